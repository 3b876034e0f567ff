/**
 * The page numbers to show below a list: the first, the last, and those around the current one.
 * `null` stands for a gap of two or more pages; a gap of one is filled with its number.
 *
 * @param {{ page: number, pageCount: number }} current
 * @param {number} [around] how many neighbours to show on each side
 * @returns {(number | null)[]}
 */
export function pageNumbers({ page, pageCount }, around = 1) {
  const shown = new Set([1, pageCount]);
  for (let number = page - around; number <= page + around; number += 1) {
    if (number >= 1 && number <= pageCount) shown.add(number);
  }
  const numbers = [];
  let last = 0;
  for (const number of [...shown].sort((a, b) => a - b)) {
    if (number - last === 2) numbers.push(number - 1);
    if (number - last > 2) numbers.push(null);
    numbers.push(number);
    last = number;
  }
  return numbers;
}
