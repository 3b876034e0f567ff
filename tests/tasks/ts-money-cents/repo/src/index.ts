export { discounted, type Discount } from './discount.ts';
export { format } from './format.ts';
export { type Line, type Order, totalOf } from './order.ts';
export { split } from './split.ts';
