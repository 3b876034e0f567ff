import { discounted, type Discount } from './discount.ts';

export interface Line {
  name: string;
  price: number;
  count: number;
}

export interface Order {
  lines: Line[];
  discount?: Discount;
}

export function totalOf({ lines, discount }: Order): number {
  const sum = lines.reduce((all, { price, count }) => all + price * count, 0);
  return discount === undefined ? sum : discounted(sum, discount);
}
