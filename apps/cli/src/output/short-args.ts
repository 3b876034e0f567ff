import { oneLine } from './plain.ts';

/** Arguments which say by themselves what a call is about. */
const telling = ['command', 'pattern', 'path', 'query', 'question', 'url'];
const longestValue = 60;

/** A call's arguments in a few words: `node --test`, `src/index.js`, `"class Foo" in src`. */
export function shortArgs(args: unknown, width = longestValue): string {
  if (typeof args === 'string') return oneLine(args, width);
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return oneLine(JSON.stringify(args) ?? '', width);
  const values = new Map(Object.entries(args));
  const main = telling.find((name) => typeof values.get(name) === 'string');
  if (main === 'pattern' && typeof values.get('path') === 'string') {
    return oneLine(`${values.get('pattern')} in ${values.get('path')}`, width);
  }
  if (main !== undefined) return oneLine(String(values.get(main)), width);
  const pairs = [...values].map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return oneLine(pairs.join(' '), width);
}
