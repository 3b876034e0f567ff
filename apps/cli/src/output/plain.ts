/**
 * Text from outside (a command's output, a model's words, a file name) made safe for a terminal: escape sequences and other control
 * characters become visible instead of moving the cursor over what a person is about to approve. Line ends and tabs stay.
 */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, visible);
}

/** The same, on one line of at most `width` characters. */
export function oneLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

const visible = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
