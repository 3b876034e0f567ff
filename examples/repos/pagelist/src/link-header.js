/**
 * The value of a `Link` header (RFC 8288) with the relations first, prev, next and last.
 *
 * @param {{ page: number, perPage: number, pageCount: number, previous: number | null, next: number | null }} current
 * @param {string | URL} url the address of the list; its other query parameters are kept
 * @returns {string}
 */
export function linkHeader(current, url) {
  const relations = [
    ['first', 1],
    ['prev', current.previous],
    ['next', current.next],
    ['last', current.pageCount],
  ];
  return relations
    .filter(([, page]) => page !== null)
    .map(([relation, page]) => `<${address(url, page, current.perPage)}>; rel="${relation}"`)
    .join(', ');
}

function address(url, page, perPage) {
  const target = new URL(url);
  target.searchParams.set('page', String(page));
  target.searchParams.set('per_page', String(perPage));
  return target.href;
}
