import unhomoglyph from 'unhomoglyph';
import { plain, visible } from './plain.ts';

/**
 * A path or a host, made safe for a terminal and shown so that two names that differ do not look alike: nothing is trimmed or joined, and
 * letters that imitate ASCII (`сору` in Cyrillic, `ﬁ`, `é` in two parts) are written as `<U+0441>`. Other letters stay as they are.
 */
export function nameText(name: string): string {
  const blanks = plain(name).replace(/[\n\t]|^ | $| (?= )/g, visible);
  if (isAscii(blanks)) return blanks;
  return blanks.replace(/[\p{L}\p{M}\p{N}]+|[^\p{ASCII}]/gu, showImitation);
}

/** @param word letters, marks and digits, or one other character */
function showImitation(word: string): string {
  if (isAscii(word)) return word;
  if (isAscii(unhomoglyph(word)) || isAscii(word.normalize('NFKC'))) return word.replace(/[^\p{ASCII}]/gu, visible);
  const marks = word === word.normalize('NFC') ? word : word.replace(/\p{M}/gu, visible);
  return /\p{Script=Latin}/u.test(word) ? marks.replace(lettersThatImitateLatin, visible) : marks;
}

/** They stand beside Latin letters in one word only to look like them. */
const lettersThatImitateLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);
