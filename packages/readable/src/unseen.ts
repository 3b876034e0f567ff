/**
 * Characters drawn by a terminal as a blank or not at all: controls, formats (zero width, bidi, soft hyphen, tags), separators other than a
 * space, fillers, and unassigned code points. Line ends and tabs are excepted.
 */
const unseen = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ \n\t]]/v;
export const unseenOf = new RegExp(unseen.source, 'gv');
/** `<U+` marks an unseen character, so a literal `<U+` is escaped, too. */
const escaped = new RegExp(`${unseen.source}|<(?=U\\+)`, 'gv');

/**
 * Makes outside text (a command's output, a model's message) safe for a terminal: unseen characters become `<U+200B>`. Such characters
 * could hide in the text under approval, or move the cursor over the text.
 */
export const plain = (text: string): string => text.replace(escaped, visible);

/** Whether the text contains characters invisible in a terminal. */
export const hasUnseen = (text: string): boolean => unseen.test(text);

/** A character as `<U+200B>`. */
export const visible = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
