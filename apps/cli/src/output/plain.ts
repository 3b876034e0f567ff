/**
 * Characters that a terminal does not draw, or draws as a blank: controls, formats (zero width, bidi, soft hyphen, tags), separators other
 * than a space, fillers, and what Unicode has not assigned. Line ends and tabs stay.
 */
const unseen = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ \n\t]]/v;
const unseenOf = new RegExp(unseen.source, 'gv');
/** `<U+` is how an unseen character is shown, so text that contains it literally is shown escaped, too. */
const escaped = new RegExp(`${unseen.source}|<(?=U\\+)`, 'gv');

/**
 * Text from outside (a command's output, a model's words) made safe for a terminal: what cannot be seen is written as `<U+200B>`, so that
 * it cannot hide in, or move the cursor over, what a person is about to approve.
 */
export function plain(text: string): string {
  return text.replace(escaped, visible);
}

/** JSON text with every unseen character as `\\u200b`: the same value, and nothing in it that steers a terminal or hides there. */
export function plainJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(unseenOf, escapeUnits);
}

const escapeUnits = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** Whether `plain` shows something of this text that a terminal would not. */
export const hasUnseen = (text: string): boolean => unseen.test(text);

/** The same, on one line of at most `width` characters. */
export function oneLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = plain(text)
    .replace(/[ \n\t]+/g, ' ')
    .trim();
  return cut(line, width);
}

/** @param shown text that is safe already: making it safe twice would escape its escapes */
export function cut(shown: string, width: number): string {
  return shown.length <= width ? shown : `${shown.slice(0, Math.max(0, width - 1))}…`;
}

/** One character as `<U+200B>`. */
export const visible = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
