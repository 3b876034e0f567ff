export const format = (sum: number): string => `€ ${sum.toFixed(2)}`;
