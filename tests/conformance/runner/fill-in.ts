/** Replaces `${NAME}` in every text of a value, keys included. Names without a value stay as they are. */
export function fillIn<T>(value: T, names: ReadonlyMap<string, string>): T {
  return replaced(value, names) as T;
}

function replaced(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{(\w+)\}/g, (whole, name: string) => names.get(name) ?? whole);
  }
  if (Array.isArray(value)) return value.map((one) => replaced(one, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [String(replaced(key, names)), replaced(one, names)]),
  );
}

/** Whether a text of the value names `${NAME}`. */
export const names = (value: unknown, name: string): boolean => JSON.stringify(value).includes(`\${${name}}`);
