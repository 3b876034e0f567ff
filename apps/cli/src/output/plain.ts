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
export function plain(text: string): string {
  return text.replace(escaped, visible);
}

/** JSON text with every unseen character as `\\u200b`: the same value, safe for a terminal. */
export function plainJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(unseenOf, escapeUnits);
}

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
export function cut(shown: string, width: number): string {
  return shown.length <= width ? shown : `${shown.slice(0, Math.max(0, width - 1))}…`;
}

/** One character as `<U+200B>`. */
export const visible = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
