/** Lines, from `from` to before `to`. */
export interface LineRange {
  from: number;
  to: number;
}

/** How many lines from the beginning have at most this many bytes. */
export function countFitting(lines: readonly string[], most: number): number {
  let left = most;
  const over = lines.findIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return over === -1 ? lines.length : over;
}
