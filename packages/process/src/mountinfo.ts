/** The kernel writes space, tab, newline and backslash in mountinfo as octal digits. @param text in latin1 */
export const unescapeOctal = (text: string): string =>
  Buffer.from(
    text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))),
    'latin1',
  ).toString();
