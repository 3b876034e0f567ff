import { describe, expect, it } from 'vitest';
import { replaceText } from './replace-text.ts';

const replace = (file: string | Buffer, old_string: string, new_string: string, replace_all = false) =>
  replaceText(Buffer.from(file), { old_string, new_string, replace_all });

describe('replaceText', () => {
  it.each([
    ['CRLF', 'a\r\nb\r\n', 'b', 'c', 'a\r\nc\r\n'],
    ['a missing last newline', 'a\nb', 'b', 'c', 'a\nc'],
    ['a byte order mark', '\uFEFFa\n', 'a', 'b', '\uFEFFb\n'],
    ['the special patterns of String.replace', 'cost', 'cost', "$& $1 $$ $` $'", "$& $1 $$ $` $'"],
    ['text past the BMP', 'x😀y', '😀', '👩‍👩‍👧', 'x👩‍👩‍👧y'],
    ['removal', 'abc', 'b', '', 'ac'],
  ])('keeps %s', (_name, file, wanted, by, result) => {
    const replaced = replace(file, wanted, by);
    expect(replaced).toMatchObject({ status: 'replaced' });
    expect(replaced.status === 'replaced' && replaced.data.toString()).toBe(result);
  });

  it('leaves bytes that are not UTF-8 alone', () => {
    const replaced = replace(Buffer.from([0xe9, 0x61, 0xff, 0x62]), 'a', 'ü');
    expect(replaced.status === 'replaced' && [...replaced.data]).toEqual([0xe9, 0xc3, 0xbc, 0xff, 0x62]);
  });

  it('refuses several occurrences and lists their lines', () => {
    expect(replace('x\ny\nx x\n\nx', 'x', 'z')).toEqual({ status: 'multiple', count: 4, lines: [1, 3, 3, 5] });
  });

  it('counts overlapping occurrences as several', () => {
    expect(replace('aaa', 'aa', 'b')).toMatchObject({ status: 'multiple', count: 2 });
  });

  it('stops counting after the listed occurrences', () => {
    const lines = Array.from({ length: 50 }, (_, index) => index + 1);
    expect(replace('x\n'.repeat(51), 'x', 'z')).toEqual({ status: 'multiple', count: 50, lines, more: true });
  });

  it('refuses to create a file that is too large to read', () => {
    expect(replace('a'.repeat(1000), 'a', 'b'.repeat(20_000), true)).toEqual({
      status: 'too_large',
      bytes: 20_000_000,
    });
  });

  it('replaces all from left to right, never within a replacement', () => {
    const replaced = replace('aaaa a', 'a', 'aa', true);
    expect(replaced.status === 'replaced' && replaced.data.toString()).toBe('aaaaaaaa aa');
    const overlapping = replace('aaa', 'aa', 'b', true);
    expect(overlapping.status === 'replaced' && overlapping.data.toString()).toBe('ba');
  });
});

describe('replaceText, when nothing matches', () => {
  const nearest = (file: string, wanted: string) => {
    const result = replace(file, wanted, 'new');
    return result.status === 'no_match' ? result.nearest : result.status;
  };

  it('reports that only line endings differ', () => {
    expect(nearest('one\r\ntwo\r\nthree\r\n', 'one\ntwo\n')).toEqual({
      line: 1,
      text: 'one\r\ntwo\r\n',
      differs_in: 'line_endings',
    });
    expect(nearest('one\ntwo', 'two\n')).toEqual({ line: 2, text: 'two', differs_in: 'line_endings' });
  });

  it('reports that only whitespace differs, with the lines of the file', () => {
    expect(nearest('if (a) {\n\treturn  b;\n}\n', '    return b;\n}')).toEqual({
      line: 2,
      text: '\treturn  b;\n}\n',
      differs_in: 'whitespace',
    });
  });

  it('does not match a part of a line as a whole line', () => {
    expect(nearest('total = price\n', 'price = total\n')).toMatchObject({ line: 1, differs_in: null });
    expect(nearest('prefix one two\n', 'one\n')).not.toMatchObject({ differs_in: 'line_endings' });
  });

  it('finds the most similar line', () => {
    const file = 'const a = 1;\nfunction pageCount(items, perPage) {\n  return 2;\n}\n';
    expect(nearest(file, '\nfunction pageCount(items, pageSize) {')).toEqual({
      line: 2,
      text: 'function pageCount(items, perPage) {\n',
      differs_in: null,
    });
  });

  it('finds no line in an empty file or without similarity', () => {
    expect(nearest('', 'x')).toBeNull();
    expect(nearest('abc\n', 'qqqqqq zzzzzz')).toBeNull();
  });
});
