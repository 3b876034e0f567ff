/** Only the fields that have a value: zod says of an optional one that it may be there and undefined. */
export function given<Values extends object>(values: Values): Given<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
}

type Given<Values> = { [Name in keyof Values]: Exclude<Values[Name], undefined> };
