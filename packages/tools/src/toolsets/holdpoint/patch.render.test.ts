import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cutDiff, unifiedDiff } from '../../text-work/patch.ts';

const run = promisify(execFile);
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdpoint-patch-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const numbered = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => `${text} ${index}\n`).join('');

describe('unifiedDiff', () => {
  it.each<[string, string, string | null, string]>([
    ['a change', 'a.txt', 'one\ntwo\nthree\n', 'one\nTWO\nthree\n'],
    ['CRLF', 'crlf.txt', 'one\r\ntwo\r\n', 'one\r\nTWO\r\n'],
    ['a lost last newline', 'last.txt', 'one\ntwo\n', 'one\ntwo'],
    ['a gained last newline', 'gain.txt', 'one\ntwo', 'one\ntwo\n'],
    ['a byte order mark', 'bom.txt', '\uFEFFone\n', '\uFEFFtwo\n'],
    ['a new file', 'new.txt', null, 'hello\n'],
    ['a file emptied', 'emptied.txt', 'a\nb\n', ''],
    ['a file filled', 'filled.txt', '', 'a\nb'],
    ['a name with a space', 'with space.txt', 'a\n', 'b\n'],
    ['a name with more than ASCII', 'größe "x".txt', 'a\n', 'b\n'],
    ['a file replaced past the search limit', 'long.txt', `${numbered(3000, 'old')}end`, numbered(3000, 'new')],
    ['the same the other way round', 'longer.txt', numbered(3000, 'old'), `${numbered(3000, 'new')}end`],
  ])('makes a patch that git apply accepts: %s', async (_name, path, before, after) => {
    if (before !== null) await writeFile(join(directory, path), before);
    await writeFile(join(directory, 'change.patch'), unifiedDiff({ path, before, after }));
    await run('git', ['apply', '--unidiff-zero', '--whitespace=nowarn', 'change.patch'], {
      cwd: directory,
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    expect(await readFile(join(directory, path), 'utf8')).toBe(after);
  });

  it('is empty when nothing differs', () => {
    expect(unifiedDiff({ path: 'a', before: 'x', after: 'x' })).toBe('');
  });
});

describe('cutDiff', () => {
  it('cuts between lines and says so', () => {
    expect(cutDiff('+aé\n+bé\n+c\n', 8)).toEqual({ diff: '+aé\n', diff_truncated: true });
    expect(cutDiff('+a\n', 3)).toEqual({ diff: '+a\n', diff_truncated: false });
  });
});
