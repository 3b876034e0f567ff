export { linkHeader } from './link-header.js';
export { pageNumbers } from './page-numbers.js';
export { pageCount, paginate } from './paginate.js';
