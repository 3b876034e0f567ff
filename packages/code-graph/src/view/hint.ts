import { languageOf } from '../grammars/language-of.ts';
import { isConfiguration } from '../resolve/open-import-resolver.ts';

const nothing = new Uint8Array();

/** The hint of the text of a file that decides where imports lead. No file name has a slash. */
export const configurationHint = '/configuration';

/**
 * What the facts of a blob depend on beside its bytes: the extension of the file, or the name of a file without one. The bytes of such a file
 * may name an interpreter.
 */
export function hintOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot).toLowerCase() : name;
}

/** A file name with this hint, in which a parser sees nothing of the path. */
export const nameWith = (hint: string): string => (hint.startsWith('.') ? `file${hint}` : hint);

/** What has to be read of a file: its facts, its text as a configuration, both or nothing. */
export function hintsToRead(path: string): string[] {
  const hint = hintOf(path);
  const facts = !hint.startsWith('.') || languageOf(nameWith(hint), nothing) !== undefined ? [hint] : [];
  return isConfiguration(path) ? [...facts, configurationHint] : facts;
}
