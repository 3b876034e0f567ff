/** Splits a sum among people, equally or by weight. */
export function split(sum: number, weights: number[]): number[] {
  const all = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (sum * weight) / all);
}
