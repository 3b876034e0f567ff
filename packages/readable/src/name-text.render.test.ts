import { expect, it } from 'vitest';
import { nameText } from './readable.ts';

it.each([
  ['a newline', 'README.md\n', 'README.md<U+000A>'],
  ['a leading blank', ' a', '<U+0020>a'],
  ['a trailing blank', 'a ', 'a<U+0020>'],
  ['two blanks', 'a  b', 'a<U+0020> b'],
  ['a tab', 'a\tb', 'a<U+0009>b'],
  ['a blank that does not break', 'a\u00a0b', 'a<U+00A0>b'],
  ['a zero width space', 'a\u200bb', 'a<U+200B>b'],
  ['a soft hyphen', 'a\u00adb', 'a<U+00AD>b'],
  ['a tag', 'a\u{e0041}b', 'a<U+E0041>b'],
  ['a filler', 'a\u3164b', 'a<U+3164>b'],
  ['a line separator', 'a\u2028b', 'a<U+2028>b'],
  ['a mark of direction', 'a\u061cb', 'a<U+061C>b'],
  ['a variation selector', '❤\ufe0f', '❤<U+FE0F>'],
  ['a text that is written like an escape', '<U+200B>', '<U+003C>U+200B>'],
  ['a Cyrillic word that looks Latin', 'сору.sh', '<U+0441><U+043E><U+0440><U+0443>.sh'],
  ['a Cyrillic letter in a Latin word', 'сopyright', '<U+0441>opyright'],
  ['a full-width letter', 'ａ.txt', '<U+FF41>.txt'],
  ['a slash that is none', 'a\u2215b', 'a<U+2215>b'],
  ['a letter in two parts', 'cafe\u0301', 'cafe<U+0301>'],
])('escapes %s', (_, name, shown) => expect(nameText(name)).toBe(shown));

it.each(['src/index.ts', 'café', 'straße', '日本語 名.txt', 'руководство.md', 'αβγ', '😀.txt', 'a <b> c'])(
  'leaves %s unchanged',
  (name) => expect(nameText(name)).toBe(name),
);
