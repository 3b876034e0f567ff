import { parse, stringify, TomlError } from 'smol-toml';
import { type ConfigText, ConfigTextError, type Launch } from './config-text.ts';

const begin = '# holdpoint: begin';
const end = '# holdpoint: end';
/** With the line end before it: a removal leaves the text as it was before the addition. */
const block = /\n?# holdpoint: begin\r?\n[\s\S]*?# holdpoint: end\r?\n/;

/** Adds a table at the end of a TOML file, between two comments, so the user's own lines stay as they are. */
export function tomlConfig(path: readonly string[], entryOf: (launch: Launch) => object): ConfigText {
  const nested = (launch: Launch): object =>
    path.reduceRight<object>((inner, name) => ({ [name]: inner }), entryOf(launch));
  const show = (launch: Launch): string => `${begin}\n${stringify(nested(launch)).trim()}\n${end}\n`;
  return {
    has: (text) => valueAt(read(text), path) !== undefined,
    add(text, launch) {
      read(text);
      const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
      const after = `${before}${before === '' ? '' : '\n'}${show(launch)}`;
      // An inline table of the same name takes no further table.
      read(after);
      return after;
    },
    remove(text) {
      if (valueAt(read(text), path) === undefined) return text;
      const without = text.replace(block, '');
      if (valueAt(read(without), path) === undefined) return without;
      throw new ConfigTextError(`the lines of ${path.join('.')} are not between "${begin}" and "${end}"`, 1);
    },
    show,
  };
}

function read(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigTextError(error.message.split('\n')[0] ?? 'it is no TOML', error.line);
  }
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || value === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt((value as Record<string, unknown>)[name], rest);
}
