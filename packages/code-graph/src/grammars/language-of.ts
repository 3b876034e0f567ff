import type { Language } from './language.ts';

/**
 * The language of a file by its name, or by the interpreter that its first line names.
 *
 * @param firstBytes the beginning of the file, 256 bytes suffice
 */
export function languageOf(_path: string, _firstBytes: Uint8Array): Language | undefined {
  throw new Error('not written yet');
}
