import { expect, test } from 'vitest';
import { OutputLines, withoutColours } from './output-lines.ts';

const esc = '\u001b';

function rowsOf(...pieces: string[]) {
  const lines = new OutputLines();
  for (const piece of pieces) lines.add(piece);
  return lines.rows;
}
const textsOf = (...pieces: string[]) => rowsOf(...pieces).map(({ text }) => text);

test('lines end with LF, CRLF, or the CR of a progress bar, wherever the pieces are cut', () => {
  const whole = 'one\r\ntwo\n10 %\r20 %\nlast';
  const expected = ['one', 'two', '10 %', '20 %', 'last'];
  expect(textsOf(whole)).toEqual(expected);
  for (let at = 1; at < whole.length; at++) expect(textsOf(whole.slice(0, at), whole.slice(at))).toEqual(expected);
  expect(textsOf(...whole)).toEqual(expected);
});

test('colours go over the ends of lines, until a reset', () => {
  const rows = rowsOf(`${esc}[31mred\nstill\n${esc}[0mplain\nafter`);
  expect(rows.map(({ colours }) => colours)).toEqual(['', `${esc}[31m`, `${esc}[31m`, '']);
});

test('links, titles and movements of the cursor are removed, the text of a link stays', () => {
  expect(
    textsOf(
      `${esc}]8;;https://example.invalid${esc}\\here${esc}]8;;${esc}\\ ${esc}]0;title\u0007x${esc}[2J${esc}[1;1Hy`,
    ),
  ).toEqual(['here xy']);
});

test('an escape without an end hides nothing', () => {
  expect(textsOf(`a${esc}]8;;never ends`, '\nb')).toEqual([`a${esc}]8;;never ends`, 'b']);
});

test('a line of ten megabytes is many rows, none with half a colour or half a character', () => {
  const line = `${esc}[32m😀${'x'.repeat(7)}${esc}[0m`.repeat(600_000);
  const rows = rowsOf(line);
  expect(rows.length).toBeGreaterThan(20_000);
  expect(rows.map(({ text }) => withoutColours(text)).join('')).toBe(withoutColours(line));
  for (const { text } of rows) {
    expect(text.length).toBeLessThanOrEqual(400);
    expect(text.isWellFormed() && !withoutColours(text).includes(esc)).toBe(true);
  }
  expect(rows.filter(({ line: number }) => number !== undefined)).toHaveLength(1);
});
