/** Only the values that there are. */
export function defined<Values extends object>(
  values: Values,
): { [Name in keyof Values]: Exclude<Values[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Values]: Exclude<Values[Name], undefined> };
}
