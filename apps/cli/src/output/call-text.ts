import type { Payload } from '@holdpoint/contract';
import { cut, nameText, oneLine } from '@holdpoint/readable';

/** Arguments sufficient to describe a call. */
const mainNames = ['command', 'pattern', 'path', 'query', 'question', 'url'];
const maxWidth = 60;

/** A call's arguments in a few words, safe for a terminal: `node --test`, `src/index.js`, `"class Foo" in src`. */
export function shortArgs(args: unknown, width = maxWidth): string {
  const { words, isPath } = argsInWords(args);
  return isPath ? cut(nameText(words), width) : oneLine(words, width);
}

/** The same words, not yet safe for a terminal. */
export function argsInWords(args: unknown): { words: string; isPath: boolean } {
  if (typeof args === 'string') return { words: args, isPath: false };
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return { words: JSON.stringify(args) ?? '', isPath: false };
  }
  const values = new Map(Object.entries(args));
  // A sub-agent: its short description is clearer than its whole job.
  const isAgent = typeof values.get('description') === 'string' && (values.has('prompt') || values.has('plan'));
  const main = isAgent ? 'description' : mainNames.find((name) => typeof values.get(name) === 'string');
  if (main === 'pattern' && typeof values.get('path') === 'string') {
    return { words: `${values.get('pattern')} in ${values.get('path')}`, isPath: false };
  }
  if (main !== undefined) return { words: String(values.get(main)), isPath: main === 'path' };
  const pairs = [...values].map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return { words: pairs.join(' '), isPath: false };
}

/** The value of a payload, or the beginning of a large JSON text. */
export const payloadValue = (payload: Payload): unknown => ('json' in payload ? payload.json : payload.preview);
