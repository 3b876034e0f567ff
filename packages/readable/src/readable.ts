import unhomoglyph from 'unhomoglyph';
import { plain, unseenOf, visible } from './unseen.ts';

/** JSON text with every unseen character as `\\u200b`: the same value, safe for a terminal. */
export const plainJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(unseenOf, escapeUnits);

const escapeUnits = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** `plain` text on a single line of at most `width` characters. */
export function oneLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = plain(text)
    .replace(/[ \n\t]+/g, ' ')
    .trim();
  return cut(line, width);
}

/** @param shown text already escaped by `plain` */
export const cut = (shown: string, width: number): string =>
  shown.length <= width ? shown : `${shown.slice(0, Math.max(0, width - 1))}…`;

/**
 * Makes a path or a host safe for a terminal, so two different names never look alike: blanks are kept, and letters that imitate ASCII
 * (`сору` in Cyrillic, `ﬁ`, `é` in two parts) are written as `<U+0441>`. Other letters are unchanged.
 */
export function nameText(name: string): string {
  const blanks = plain(name).replace(/[\n\t]|^ | $| (?= )/g, visible);
  if (isAscii(blanks)) return blanks;
  return blanks.replace(/[\p{L}\p{M}\p{N}]+|[^\p{ASCII}]/gu, showImitation);
}

/** The same for a command or a script: its line ends, tabs and blanks stay as they are. */
export const codeText = (code: string): string => {
  const shown = plain(code);
  return isAscii(shown) ? shown : shown.replace(/[\p{L}\p{M}\p{N}]+|[^\p{ASCII}]/gu, showImitation);
};

/** Whether `codeText` writes a character of the text in another way. */
export const hasHidden = (text: string): boolean => codeText(text) !== text;

/** @param word letters, marks and digits, or a single other character */
function showImitation(word: string): string {
  if (isAscii(word)) return word;
  if (isAscii(unhomoglyph(word)) || isAscii(word.normalize('NFKC'))) return word.replace(/[^\p{ASCII}]/gu, visible);
  const marks = word === word.normalize('NFC') ? word : word.replace(/\p{M}/gu, visible);
  return /\p{Script=Latin}/u.test(word) ? marks.replace(lettersThatImitateLatin, visible) : marks;
}

/** Next to Latin letters in the same word, these can only be imitations. */
const lettersThatImitateLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;

const isAscii = (text: string): boolean => !/\P{ASCII}/u.test(text);

/** A name as a single word of a command line to copy, quoted when a shell would interpret the name. */
export function shellWord(name: string): string {
  if (/^[\w@%+=:,./][\w@%+=:,./-]*$/.test(name)) return name;
  // Unseen and imitating letters are escaped: the copied command then fails instead of doing something else.
  return `'${nameText(name).replaceAll("'", "'\\''")}'`;
}
