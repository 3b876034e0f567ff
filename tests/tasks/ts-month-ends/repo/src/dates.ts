/** A date as text, of a Date. */
export const textOf = (date: Date): string => date.toISOString().slice(0, 10);

export function dateOf(text: string): Date {
  const [year, month, day] = text.split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, day);
}

export function addDays(text: string, days: number): string {
  return textOf(new Date(dateOf(text).getTime() + days * 86_400_000));
}

export function addMonths(text: string, months: number): string {
  const date = dateOf(text);
  date.setMonth(date.getMonth() + months);
  return textOf(date);
}
