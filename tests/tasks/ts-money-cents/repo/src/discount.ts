export type Discount = { percent: number } | { amount: number };

export function discounted(sum: number, discount: Discount): number {
  if ('percent' in discount) return sum * (1 - discount.percent / 100);
  return Math.max(0, sum - discount.amount);
}
