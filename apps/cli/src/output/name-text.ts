import unhomoglyph from 'unhomoglyph';
import { plain, visible } from './plain.ts';

/**
 * Makes a path or a host safe for a terminal, so that two different names never look alike: blanks are kept, and letters that imitate
 * ASCII (`сору` in Cyrillic, `ﬁ`, `é` in two parts) are written as `<U+0441>`. Other letters are unchanged.
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

/** Beside Latin letters in one word, these can only be imitations. */
const lettersThatImitateLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);
