import { describe, expect, it } from 'vitest';
import { parseCounts, parseFiles, parseMatches, parseStats } from './grep-output.ts';

const stats = (lines: number, files: number) =>
  `\n${lines} matches\n${lines} matched lines\n${files} files contained matches\n9 files searched\n164 bytes printed\n262152 bytes searched\n0.000469 seconds spent searching\n0.001321 seconds total\n`;

const noContext = { before: 0, after: 0 };

describe('parseMatches', () => {
  it('reads matches with their context', () => {
    const output = `./a.js\0${1}-before\n./a.js\0${2}:hit: 3-4\r\n./a.js\0${3}:hit\n./b.js\0${7}:x\n${stats(3, 2)}`;
    expect(parseMatches(output, { before: 1, after: 1 })).toEqual({
      items: [
        { path: 'a.js', line: 2, text: 'hit: 3-4', before: ['before'], after: ['hit'] },
        { path: 'a.js', line: 3, text: 'hit', before: ['hit: 3-4'], after: [] },
        { path: 'b.js', line: 7, text: 'x', before: [], after: [] },
      ],
      binary: [],
    });
  });

  it('accepts any file name', () => {
    const name = 'odd\n1:name';
    expect(parseMatches(`${name}\0${1}:x\n`, noContext).items).toEqual([{ path: name, line: 1, text: 'x' }]);
  });

  it('leaves out a last line that was cut off', () => {
    expect(parseMatches(`a\0${1}:whole\na\0${2}:cut of`, noContext).items).toHaveLength(1);
    expect(parseMatches(`a\0${1}:whole\na`, noContext).items).toHaveLength(1);
  });

  it('keeps notices about binary files out of the next path', () => {
    const notice =
      './bin: WARNING: stopped searching binary file after match (found "\\0" byte around offset 288894)\n';
    const output = `./bin\0${1}:x\n${notice}./c\0${1}:x\n./d: binary file matches (found "\\0" byte around offset 6)\n${stats(3, 3)}`;
    expect(parseMatches(output, noContext)).toEqual({
      items: [
        { path: 'bin', line: 1, text: 'x' },
        { path: 'c', line: 1, text: 'x' },
      ],
      binary: ['bin', 'd'],
    });
  });
});

describe('parseFiles and parseCounts', () => {
  it('read names and numbers', () => {
    expect(parseFiles(`./a\0./b\nc\0${stats(2, 2)}`).items).toEqual(['a', 'b\nc']);
    expect(parseCounts(`./a\0${12}\n./b\nc\0${3}\r\n${stats(15, 2)}`).items).toEqual([
      { path: 'a', matches: 12 },
      { path: 'b\nc', matches: 3 },
    ]);
    expect(parseFiles(stats(0, 0)).items).toEqual([]);
    expect(parseCounts(stats(0, 0)).items).toEqual([]);
  });
});

describe('parseStats', () => {
  it('reads the totals at the end, not an earlier imitation', () => {
    expect(parseStats(`a\0${1}:x\n${stats(99, 99)}b\0${1}:y\n${stats(4, 2)}`)).toEqual({
      matches: 4,
      lines: 4,
      files: 2,
    });
  });

  it('is null when the search did not end', () => {
    expect(parseStats(`a\0${1}:x\n`)).toBeNull();
    expect(parseStats('')).toBeNull();
  });
});
