import { stripVTControlCharacters } from 'node:util';

/** Controls other than tab and line feed. Some providers refuse a NUL, and none of them shows anything to a model. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are the subject
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/** A character as `<U+0007>`. */
const named = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** The text of a file: each control character stays visible, because an edit needs the exact bytes. */
export const fileText = (text: string): string => text.toWellFormed().replace(controls, named);

/** The output of a command. Colours and cursor movements are dropped: without a terminal they say nothing and cost tokens. */
export const outputText = (text: string): string =>
  fileText(stripVTControlCharacters(text.toWellFormed()).replace(/\r+\n?/g, '\n'));

/** Without line breaks, for the head of a result and for one entry of a list. Unicode has three more line breaks than the controls. */
export const oneLine = (text: string): string => fileText(text.replace(/\s*[\r\n\u2028\u2029\u0085]+\s*/g, ' ')).trim();

/** A path as one line. A path with a control character or a line break is quoted as JSON. */
export const pathLine = (path: string): string =>
  /[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path).replace(/[\u007f-\u009f\u2028\u2029]/g, named) : path;

/** Without the line break at its end. */
export const withoutEnd = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text);

/** `1 match`, `5,120 matches`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** `12 paths`, or `500 of 812 paths`. */
export const shownOf = (shown: number, total: number | null, one: string, many?: string): string =>
  total !== null && total <= shown
    ? counted(shown, one, many)
    : `${shown.toLocaleString('en-US')} of ${total === null ? 'more' : total.toLocaleString('en-US')} ${many ?? `${one}s`}`;
