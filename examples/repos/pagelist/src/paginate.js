import { checkPage, checkPerPage } from './check.js';

const DEFAULT_PER_PAGE = 20;

/**
 * How many pages a list of `total` items fills. An empty list has one page.
 *
 * @param {number} total
 * @param {number} perPage
 * @returns {number}
 */
export function pageCount(total, perPage) {
  return Math.floor(total / perPage) + 1;
}

/**
 * Cuts one page out of a list.
 *
 * @template T
 * @param {readonly T[]} list
 * @param {{ page?: number, perPage?: number }} [options]
 */
export function paginate(list, options = {}) {
  const perPage = checkPerPage(options.perPage ?? DEFAULT_PER_PAGE);
  const count = pageCount(list.length, perPage);
  const page = Math.min(checkPage(options.page ?? 1), count);
  const start = (page - 1) * perPage;
  return {
    items: list.slice(start, start + perPage),
    total: list.length,
    page,
    perPage,
    pageCount: count,
    previous: page > 1 ? page - 1 : null,
    next: page < count ? page + 1 : null,
  };
}
