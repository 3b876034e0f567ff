import { languageOf } from '../grammars/grammar-of.ts';
import { isConfiguration } from '../resolve/open-import-resolver.ts';

const nothing = new Uint8Array();

/** The hint of a configuration file: its text decides where imports lead. No file name has a slash. */
export const configurationHint = '/configuration';

/**
 * The second input of a blob's facts, after its bytes: the extension of the file, or the name of a file without an extension. The bytes of
 * a file without an extension may name an interpreter.
 */
export function hintOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot).toLowerCase() : name;
}

/** A file name with this hint: a parser learns nothing else about the path. */
export const nameWith = (hint: string): string => (hint.startsWith('.') ? `file${hint}` : hint);

/** The needed reads of a file: its facts, its text as a configuration, both or nothing. */
export function hintsToRead(path: string): string[] {
  const hint = hintOf(path);
  const facts = !hint.startsWith('.') || languageOf(nameWith(hint), nothing) !== undefined ? [hint] : [];
  return isConfiguration(path) ? [...facts, configurationHint] : facts;
}
