/**
 * Scripts for printing alone, for programs with a language of their own. No two repeated parts can match the same text: matching takes
 * linear time.
 */
const number = String.raw`\d{1,9}`;
const pattern = (end: string) => String.raw`(?:[^${end}\\\n[]|\\[^\n]|\[[^\]${end}\n\\]{1,99}\])*`;
const text = (end: string) => String.raw`(?:[^${end}\\\n]|\\[^\n])*`;
const place = `(?:${number}|\\$|/${pattern('/')}/)`;
const address = `(?:${place}(?:,\\+?${place})?)?!?`;
const replace = ['/', '|', '#', ','].map((end) => `s\\${end}${pattern(end)}\\${end}${text(end)}\\${end}[gpiI0-9]{0,9}`);
const command = `${address}(?:[pdq=]|${replace.join('|')})`;

/** Print, delete, quit, number, replace. Not `w`, `e`, `r`, nor `s///w`, `s///e`. */
export const sedScripts = [new RegExp(`^ ?${command}(?:; ?${command})*;?$`)];

/** No output to a file or a program, no other program's output. */
export const awkScripts = [/^(?![\s\S]*(?:system|getline))[^|>@]*$/];
