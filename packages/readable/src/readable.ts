import unhomoglyph from 'unhomoglyph';

/**
 * Characters that a terminal does not draw, or draws as a blank: controls, formats (zero width, bidi, soft hyphen, tags), separators other
 * than a space, fillers, and unassigned code points. Line ends and tabs are excepted.
 */
const unseen = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ \n\t]]/v;
const unseenOf = new RegExp(unseen.source, 'gv');
/** `<U+` marks an unseen character, so a literal `<U+` is escaped, too. */
const escaped = new RegExp(`${unseen.source}|<(?=U\\+)`, 'gv');

/**
 * Makes outside text (a command's output, a model's message) safe for a terminal: unseen characters become `<U+200B>`, so they can neither
 * hide in, nor move the cursor over, what a person is about to approve.
 */
export const plain = (text: string): string => text.replace(escaped, visible);

/** JSON text with every unseen character as `\\u200b`: the same value, safe for a terminal. */
export const plainJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(unseenOf, escapeUnits);

const escapeUnits = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** Whether the text contains characters that a terminal does not show. */
export const hasUnseen = (text: string): boolean => unseen.test(text);

/** Like `plain`, on one line of at most `width` characters. */
export function oneLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = plain(text)
    .replace(/[ \n\t]+/g, ' ')
    .trim();
  return cut(line, width);
}

/** @param shown text that `plain` has already escaped */
export const cut = (shown: string, width: number): string =>
  shown.length <= width ? shown : `${shown.slice(0, Math.max(0, width - 1))}…`;

/** One character as `<U+200B>`. */
const visible = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/**
 * Makes a path or a host safe for a terminal, so that two different names never look alike: blanks are kept, and letters that imitate
 * ASCII (`сору` in Cyrillic, `ﬁ`, `é` in two parts) are written as `<U+0441>`. Other letters are unchanged.
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

const isAscii = (text: string): boolean => !/\P{ASCII}/u.test(text);

/** A name as one word of a command line to copy, quoted when a shell would interpret it. */
export function shellWord(name: string): string {
  if (/^[\w@%+=:,./][\w@%+=:,./-]*$/.test(name)) return name;
  // Unseen and imitating letters are escaped: the copied command then fails instead of doing something else.
  return `'${nameText(name).replaceAll("'", "'\\''")}'`;
}
