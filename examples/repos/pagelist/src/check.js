const MAX_PER_PAGE = 200;

/** @param {number} page */
export function checkPage(page) {
  if (!Number.isInteger(page) || page < 1) {
    throw new RangeError(`page must be a whole number from 1, not ${page}`);
  }
  return page;
}

/** @param {number} perPage */
export function checkPerPage(perPage) {
  if (!Number.isInteger(perPage) || perPage < 1 || perPage > MAX_PER_PAGE) {
    throw new RangeError(`perPage must be a whole number from 1 to ${MAX_PER_PAGE}, not ${perPage}`);
  }
  return perPage;
}
