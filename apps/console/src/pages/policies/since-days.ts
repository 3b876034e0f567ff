/** The moment so many days ago; undefined: the text is no such number. */
export function sinceDays(text: string): string | undefined {
  const days = Number(text);
  if (!(days > 0 && days <= 3650)) return undefined;
  return new Date(Date.now() - days * 86_400_000).toISOString();
}
