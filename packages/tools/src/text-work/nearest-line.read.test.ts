import { expect, test } from 'vitest';
import { nearestLine } from './find-text.ts';

const near = (file: string, wanted: string) => nearestLine(Buffer.from(file), wanted);

test.each([
  ['line endings alone', 'x\r\na\r\nb\r\n', 'a\nb\n', { line: 2, text: 'a\r\nb\r\n', differs_in: 'line_endings' }],
  ['a last newline', 'x\na', 'a\n', { line: 2, text: 'a', differs_in: 'line_endings' }],
  [
    'white space',
    'if (a) {\n\tb( c );\n}\n',
    '    b( c );\n',
    { line: 2, text: '\tb( c );\n', differs_in: 'whitespace' },
  ],
  [
    'white space of several lines',
    'a  1\n\tb\n c\n',
    'a 1\nb\nc',
    { line: 1, text: 'a  1\n\tb\n c\n', differs_in: 'whitespace' },
  ],
  [
    'white space, from within a line',
    'let x = f(  1 )',
    'f( 1 )',
    { line: 1, text: 'let x = f(  1 )', differs_in: 'whitespace' },
  ],
  ['words', 'zzz\nconst total = 1;\n', 'const totals = 1;', { line: 2, text: 'const total = 1;\n', differs_in: null }],
])('what differs in %s is named with its line', (_, file, wanted, nearest) => {
  expect(near(file, wanted)).toEqual(nearest);
});

test('a text that begins and ends within lines is found over repeated inner lines', () => {
  const file = `begin x\n${'same\n'.repeat(4)}same  tail more\n`;
  expect(near(file, `x\n${'same\n'.repeat(3)}same tail`)).toBeNull();
  expect(near(file, `x\n${'same\n'.repeat(4)}same tail`)).toMatchObject({ line: 1, differs_in: 'whitespace' });
});

test('nothing alike has no nearest line', () => {
  expect(near('abc\n', 'xyz')).toBeNull();
  expect(near('', 'xyz')).toBeNull();
  expect(near('abc\n', '\n \n')).toBeNull();
});

test('a long line is cut, and a long part is searched in linear time', () => {
  const long = 'ab '.repeat(40_000);
  const found = near(`${long}\t!\n`, `${'ab '.repeat(30_000)} ab`);
  expect(found).toMatchObject({ line: 1, differs_in: 'whitespace' });
  expect(found?.text).toHaveLength(1001);
});

test('only the first 100,000 lines count', () => {
  expect(near(`${'\n'.repeat(100_000)}needle x\n`, 'needle  x')).toBeNull();
  expect(near(`${'\n'.repeat(99_999)}needle x\n`, 'needle  x')).toMatchObject({ line: 100_000 });
});
