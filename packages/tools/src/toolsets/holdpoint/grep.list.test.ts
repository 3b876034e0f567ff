import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';

const workspace = useWorkspace();
const grep = (args: object) => workspace().call('grep', args);
const value = (args: object) => workspace().value('grep', args);

describe('grep', () => {
  it('returns matching lines in order', async () => {
    await workspace().put('src/b.js', 'no\nneedle(2)\r\n');
    await workspace().put('src/a.js', 'needle(1)\n\nneedle(3)\n');
    expect(await value({ pattern: 'needle\\(\\d\\)$' })).toEqual({
      matches: [
        { path: 'src/a.js', line: 1, text: 'needle(1)' },
        { path: 'src/a.js', line: 3, text: 'needle(3)' },
        { path: 'src/b.js', line: 2, text: 'needle(2)' },
      ],
      total: 3,
      truncated: false,
    });
  });

  it('reports the capabilities of the sandbox it ran in', async () => {
    expect(await grep({ pattern: 'x' })).toMatchObject({
      status: 'succeeded',
      capabilities: { fs: 'enforced', net: 'enforced' },
    });
  });

  it('shows the lines around a match', async () => {
    await workspace().put('a.txt', '1\n2\nx\n4\n5\n');
    expect(await value({ pattern: 'x', context: 1 })).toMatchObject({
      matches: [{ line: 3, text: 'x', before: ['2'], after: ['4'] }],
    });
  });

  it('lists files and counts matches', async () => {
    await workspace().put('a.txt', 'x x\nx\n');
    await workspace().put('b.txt', 'X\n');
    expect(await value({ pattern: 'x', output_mode: 'files', case_insensitive: true })).toEqual({
      files: ['a.txt', 'b.txt'],
      total: 2,
      truncated: false,
    });
    expect(await value({ pattern: 'x', output_mode: 'count' })).toEqual({
      counts: [{ path: 'a.txt', matches: 3 }],
      total: 1,
      truncated: false,
    });
  });

  it('returns an empty list without matches, in every mode', async () => {
    await workspace().put('a.txt', 'text\n');
    expect(await value({ pattern: 'nope' })).toEqual({ matches: [], total: 0, truncated: false });
    expect(await value({ pattern: 'nope', output_mode: 'files' })).toEqual({ files: [], total: 0, truncated: false });
    expect(await value({ pattern: 'nope', output_mode: 'count' })).toEqual({ counts: [], total: 0, truncated: false });
  });

  it('searches one file or directory, or by glob', async () => {
    for (const path of ['a.ts', 'src/b.ts', 'src/c.js']) await workspace().put(path, 'x\n');
    const files = async (args: object) =>
      ((await value({ pattern: 'x', output_mode: 'files', ...args })) as { files: string[] }).files;
    expect(await files({ path: 'src' })).toEqual(['src/b.ts', 'src/c.js']);
    expect(await files({ path: '/workspace/src/b.ts' })).toEqual(['src/b.ts']);
    expect(await files({ glob: '*.ts' })).toEqual(['a.ts', 'src/b.ts']);
    expect(await files({ glob: '!*.ts' })).toEqual(['src/c.js']);
  });

  it('honours .gitignore without a repository, unless include_ignored is set', async () => {
    for (const path of ['a.txt', 'dist/b.txt', '.env']) await workspace().put(path, 'x\n');
    await workspace().put('.gitignore', 'dist/\n');
    expect(await value({ pattern: '^x', output_mode: 'files' })).toMatchObject({ files: ['a.txt'] });
    await workspace().put('.git/config', 'x\n');
    expect(await value({ pattern: '^x', output_mode: 'files', include_ignored: true })).toMatchObject({
      files: ['.env', 'a.txt', 'dist/b.txt'],
    });
  });

  it('accepts patterns, globs and names that start with a dash, and odd names', async () => {
    await workspace().put('-e', '--flag\n');
    await workspace().put('new\nline: 1', '--flag\n');
    await workspace().put('-d/-x', '--flag\n');
    expect(await value({ pattern: '--flag' })).toMatchObject({
      matches: [{ path: '-d/-x' }, { path: '-e' }, { path: 'new\nline: 1', line: 1, text: '--flag' }],
    });
    expect(await value({ pattern: '--flag', path: '-d' })).toMatchObject({ matches: [{ path: '-d/-x' }], total: 1 });
    expect(await value({ pattern: '-f', path: '-e', glob: '-*' })).toMatchObject({ total: 1 });
  });

  it.each(['needle(', '[z-a]', '(?=x)', 'a\\nb', '*'])('reports the invalid pattern %s as data', async (pattern) => {
    expect(await grep({ pattern })).toMatchObject({
      status: 'failed',
      error: { code: 'EINVALIDPATTERN', message: expect.any(String) },
    });
  });

  it('reports an invalid glob and paths that cannot be searched as data', async () => {
    expect(await grep({ pattern: 'x', glob: '{a' })).toMatchObject({
      status: 'failed',
      error: { code: 'EINVALIDGLOB' },
    });
    expect(await grep({ pattern: 'x', path: 'nope' })).toMatchObject({ status: 'failed', error: { code: 'ENOENT' } });
    expect(await grep({ pattern: 'x', path: '../..' })).toMatchObject({
      status: 'failed',
      error: { code: 'EOUTSIDE' },
    });
  });

  it('does not follow links out of the workspace', async () => {
    await workspace().put('a.txt', 'root:\n');
    await symlink('/etc', join(workspace().path, 'out'));
    await symlink('/etc/passwd', join(workspace().path, 'passwd'));
    expect(await value({ pattern: 'root:', output_mode: 'files', include_ignored: true })).toMatchObject({
      files: ['a.txt'],
    });
    const outcome = await grep({ pattern: 'root:', path: 'out/passwd' });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'EOUTSIDE' } });
  });

  it('skips binary files, and names one that was requested', async () => {
    await workspace().put('bin', Buffer.from('needle\0\n'));
    await workspace().put('latin1.txt', Buffer.from('caf\xe9 needle\n', 'latin1'));
    expect(await value({ pattern: 'needle' })).toMatchObject({
      matches: [{ path: 'latin1.txt', text: 'caf\uFFFD needle' }],
      total: 1,
    });
    expect(await value({ pattern: 'needle', path: 'bin' })).toMatchObject({ matches: [], binary_files: ['bin'] });
  });

  it('limits its results and reports the total', async () => {
    await workspace().put('a.txt', 'needle\n'.repeat(300));
    expect(await value({ pattern: 'needle', max_results: 5 })).toMatchObject({ total: 300, truncated: true });
    await workspace().put('long.txt', `needle ${'y'.repeat(300)}\n`.repeat(5000));
    const long = (await value({ pattern: 'needle', path: 'long.txt', max_results: 1000 })) as {
      matches: { line: number; text: string }[];
    };
    expect(long).toMatchObject({ total: 5000, truncated: true });
    expect(long.matches.map(({ line }) => line)).toEqual(long.matches.map((_, index) => index + 1));
    expect(new Set(long.matches.map(({ text }) => text)).size).toBe(1);
    expect(long.matches.length).toBeGreaterThan(50);
  });

  it('cuts a very long line and keeps the other matches', async () => {
    await workspace().put('a.min.js', `needle${'y'.repeat(500_000)}\n`);
    await workspace().put('b.js', 'needle\n');
    const { matches } = (await value({ pattern: 'needle' })) as { matches: { path: string; text: string }[] };
    expect(matches.map(({ path }) => path)).toEqual(['a.min.js', 'b.js']);
    expect(matches[0]?.text.length).toBeLessThan(600);
  });

  it('ends a search with too many matches and reports no total', async () => {
    await workspace().put('huge.txt', `needle ${'y'.repeat(380)}\n`.repeat(40_000));
    const outcome = await grep({ pattern: 'needle', max_results: 3 });
    expect(outcome).toMatchObject({
      status: 'succeeded',
      value: { matches: [{ line: 1 }, { line: 2 }, { line: 3 }], total: null, truncated: true },
    });
  });

  it('continues when a file cannot be read, and reports it', async () => {
    await workspace().put('closed.txt', 'needle\n');
    await workspace().put('open.txt', 'needle\n');
    await chmod(join(workspace().path, 'closed.txt'), 0);
    expect(await value({ pattern: 'needle' })).toMatchObject({
      matches: [{ path: 'open.txt' }],
      warnings: [expect.stringContaining('closed.txt')],
    });
    expect(await value({ pattern: 'nope' })).toMatchObject({
      matches: [],
      warnings: [expect.stringContaining('closed.txt')],
    });
  });
});
