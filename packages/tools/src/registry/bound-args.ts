import { type ArgumentIssue, pointer } from './invalid-args.ts';

const mostValues = 20_000;
/** More than the limit of any tool for a text: each tool refuses with its own error. */
const mostChars = 16 * 1024 * 1024;
const deepest = 100;

/**
 * The reason why arguments are too large for any tool; undefined when they are not. A schema reports an issue for each value: a million
 * issues took 4 s.
 */
export function boundArgs(args: unknown): ArgumentIssue | undefined {
  let values = 0;
  let chars = 0;
  const level: { value: unknown; path: string[] }[] = [{ value: args, path: [] }];
  for (let next = level.pop(); next !== undefined; next = level.pop()) {
    const { value, path } = next;
    if (typeof value === 'string') chars += value.length;
    if (chars > mostChars) return { pointer: pointer(path), detail: `more than ${mostChars} characters in all` };
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= deepest) return { pointer: pointer(path), detail: `nested more than ${deepest} deep` };
    const tooMany = { pointer: pointer(path), detail: `more than ${mostValues} values in all` };
    // Checked before the walk over the keys, because the walk is slow for a million keys.
    if (Array.isArray(value) && value.length > mostValues) return tooMany;
    for (const key in value) {
      values += 1;
      chars += key.length;
      if (values > mostValues) return tooMany;
      level.push({ value: (value as Record<string, unknown>)[key], path: [...path, key] });
    }
  }
  return undefined;
}
