import { mkdir, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { clemini } from './toolset.ts';

const workspace = useWorkspace(clemini);
const glob = (pattern: unknown, more: object = {}) => workspace().result('glob', { pattern, ...more });
const grep = (pattern: unknown, more: object = {}) => workspace().result('grep', { pattern, ...more });
const failed = (error_code: string, error = /./) => ({ error_code, error: expect.stringMatching(error) });
async function put(files: Record<string, string>) {
  for (const [path, content] of Object.entries(files)) await workspace().put(path, content);
}
const found = (...matches: string[]) => ({
  matches,
  count: matches.length,
  total_found: matches.length,
  truncated: false,
});

// covers S3-50, C-10
// choices S3-A04, S3-A05
test('glob finds files by name, in byte order', async () => {
  await put({ 'src/b.rs': '', 'src/a/B.rs': '', 'src/Z.rs': '', '.hid/x.rs': '', 'top.rs': '', 'n.py': '' });
  await put({
    '.git/x.rs': '',
    'node_modules/m/y.rs': '',
    'a/target/z.rs': '',
    '__pycache__/q.rs': '',
    '.venv/v.rs': '',
  });
  expect(await glob('**/*.rs')).toEqual(found('.hid/x.rs', 'src/Z.rs', 'src/a/B.rs', 'src/b.rs', 'top.rs'));
  expect(await glob('*.rs')).toEqual(found('top.rs'));
  expect(await glob('*.rs', { directory: 'src' })).toEqual(found('src/Z.rs', 'src/b.rs'));
  expect(await glob('{n,top}.{py,rs}')).toEqual(found('n.py', 'top.rs'));
  expect(await glob('*.none')).toEqual(found());
  // A directory is no file.
  expect(await glob('src')).toEqual(found());
});

// covers S3-51, S3-52
test('glob sorts and returns pages', async () => {
  await put({ 'a.t': '1', 'b.t': '333', 'c.t': '22', 'd.t': '22' });
  const at = (name: string, seconds: number) => utimes(join(workspace().path, name), seconds, seconds);
  await Promise.all([at('a.t', 300), at('b.t', 100), at('c.t', 400), at('d.t', 200)]);
  expect(await glob('*.t', { sort: 'size' })).toMatchObject({ matches: ['b.t', 'c.t', 'd.t', 'a.t'] });
  expect(await glob('*.t', { sort: 'modified' })).toMatchObject({ matches: ['c.t', 'a.t', 'd.t', 'b.t'] });
  const page = (offset: number, ...matches: string[]) => ({
    matches,
    count: matches.length,
    total_found: 4,
    truncated: offset + matches.length < 4,
  });
  expect(await glob('*.t', { head_limit: 2 })).toEqual(page(0, 'a.t', 'b.t'));
  expect(await glob('*.t', { head_limit: 2, offset: 2 })).toEqual(page(2, 'c.t', 'd.t'));
  expect(await glob('*.t', { offset: 3, sort: 'size' })).toEqual(page(3, 'a.t'));
  expect(await glob('*.t', { head_limit: 0 })).toEqual(page(0));
  expect(await glob('*.t', { offset: 9 })).toMatchObject({ matches: [], total_found: 4 });
});

// covers S3-05, S3-06, S3-53, C-02
test('glob refuses bad patterns and what is outside', async () => {
  await put({ 'd/f': '' });
  await symlink('/etc', join(workspace().path, 'etc'));
  for (const pattern of ['[a', '', 'a\0', 1, '../*', 'd/{..,x}/*', '{d/..,x}/*']) {
    expect(await glob(pattern)).toMatchObject(failed('INVALID_ARGUMENT'));
  }
  for (const more of [{ sort: 'colour' }, { head_limit: -1 }, { offset: '1' }, { dir: 'd' }, { directory: 'd/f' }]) {
    expect(await glob('*', more)).toMatchObject(failed('INVALID_ARGUMENT'));
  }
  expect(await glob('*', { directory: 'none' })).toMatchObject(failed('NOT_FOUND', /^Directory not found: none\./));
  for (const directory of ['etc', '..', '/etc', '/workspace2']) {
    expect(await glob('*', { directory })).toMatchObject(failed('ACCESS_DENIED', /is outside allowed paths/));
  }
  expect(await glob('etc/hosts')).toEqual(found());
});

// covers S3-60, S3-62, C-10
// choices S3-A09
test('grep returns lines, with those around them', async () => {
  await put({ 'm.rs': 'one\ntwo\nERROR here\r\nfour\nfive\n', 'src/日.txt': 'an error\n', empty: '' });
  expect(await grep('ERROR')).toEqual({
    matches: [{ file: 'm.rs', line: 3, content: 'ERROR here' }],
    count: 1,
    total_found: 1,
  });
  const around = { file: 'm.rs', line: 3, content: 'ERROR here' };
  const both = { ...around, before: ['one', 'two'], after: ['four', 'five'] };
  expect(await grep('ERROR', { context: 2 })).toMatchObject({ matches: [both] });
  expect(await grep('ERROR', { context: 2, after_context: 1 })).toMatchObject({
    matches: [{ ...both, after: ['four'] }],
  });
  expect(await grep('ERROR', { before_context: 1 })).toMatchObject({ matches: [{ ...around, before: ['two'] }] });
  expect(await grep('error', { case_insensitive: true })).toMatchObject({
    matches: [{ file: 'm.rs' }, { file: 'src/日.txt', line: 1, content: 'an error' }],
  });
  expect(await grep('zzz')).toEqual({ matches: [], count: 0, total_found: 0 });
  expect(await grep('-e')).toEqual({ matches: [], count: 0, total_found: 0 });
});

// covers S3-61, S3-63, S3-66
test('grep lists files, counts, and returns pages', async () => {
  await put({ 'a.txt': 'x x\nx\n', 'b.txt': 'x\n', 'c.txt': 'y\n' });
  expect(await grep('x', { output_mode: 'files_with_matches' })).toEqual({
    ...{ matches: ['a.txt', 'b.txt'], count: 2, total_found: 2 },
  });
  const counts = [
    { file: 'a.txt', count: 3 },
    { file: 'b.txt', count: 1 },
  ];
  expect(await grep('x', { output_mode: 'count' })).toEqual({ matches: counts, count: 2, total_found: 4 });
  expect(await grep('x', { head_limit: 2 })).toMatchObject({ count: 2, total_found: 3, truncated: true });
  const last = await grep('x', { head_limit: 2, offset: 2 });
  expect(last).toEqual({ matches: [{ file: 'b.txt', line: 1, content: 'x' }], count: 1, total_found: 3 });
  const second = { output_mode: 'count', offset: 1 };
  expect(await grep('x', second)).toEqual({ matches: [counts[1]], count: 1, total_found: 4 });
  expect(await grep('x', { offset: 9 })).toMatchObject({ matches: [], count: 0, total_found: 3 });
  await put({ 'many.log': 'hit\n'.repeat(1500) });
  const all = await grep('hit');
  expect(all).toMatchObject({ count: 1500, total_found: 1500 });
  expect(all).not.toHaveProperty('truncated');
  expect(await grep('hit', { head_limit: 1000 })).toMatchObject({ count: 1000, total_found: 1500, truncated: true });
  // Bytes are the only bound.
  await put({ 'wide.log': `wide ${'x'.repeat(1500)}\n`.repeat(1000) });
  const some = (await grep('wide')) as { count: number };
  expect(some).toMatchObject({ total_found: 1000, truncated: true });
  expect(some.count).toBeGreaterThan(500);
  expect(await grep('wide', { offset: 990 })).toMatchObject({ count: 10 });
});

// covers S3-64, S3-67
// choices S3-A05, S3-A07, S3-A08
test('grep filters files by pattern and type', async () => {
  await put({
    'src/c/a.tsx': 'k\n',
    'src/c/b.ts': 'k\n',
    'c.tsx': 'k\n',
    'x.rs': 'k\n',
    'y.py': 'k\n',
    '!z.ts': 'k\n',
  });
  await put({ 'target/t.rs': 'k\n', 'node_modules/n.ts': 'k\n', '.venv/p.py': 'k\n', '.hidden/h.go': 'k\n' });
  await put({ '.gitignore': 'x.rs\n' });
  const files = async (more: object) =>
    ((await grep('k', { ...more, output_mode: 'files_with_matches' })) as { matches: string[] }).matches;
  expect(await files({ file_pattern: '*.tsx' })).toEqual(['c.tsx', 'src/c/a.tsx']);
  expect(await files({ file_pattern: '*.tsx', directory: 'src/c' })).toEqual(['src/c/a.tsx']);
  expect(await files({ file_pattern: 'c/*', directory: 'src' })).toEqual(['src/c/a.tsx', 'src/c/b.ts']);
  expect(await files({ file_pattern: 'src/**/*.ts' })).toEqual(['src/c/b.ts']);
  expect(await files({ file_pattern: 'c/*' })).toEqual([]);
  expect(await files({ file_pattern: '!z.ts' })).toEqual(['!z.ts']);
  expect(await files({ file_pattern: '**/*', type: 'rs' })).toEqual(['x.rs']);
  expect(await files({ type: 'rust' })).toEqual(['x.rs']);
  expect(await files({ type: 'python' })).toEqual(['y.py']);
  expect(await files({ type: 'ts' })).toEqual(['!z.ts', 'c.tsx', 'src/c/a.tsx', 'src/c/b.ts']);
  expect(await files({ type: 'go' })).toEqual(['.hidden/h.go']);
  expect(await grep('k', { type: 'nonsense' })).toMatchObject(failed('INVALID_ARGUMENT', /nonsense/));
});

// covers S3-05, S3-06, S3-60, S3-65, C-02, C-08, C-09
test('grep refuses bad arguments, and skips binaries and links', async () => {
  await workspace().put('b.bin', Buffer.from('secret\0'));
  await symlink('/etc/hosts', join(workspace().path, 'l'));
  await mkdir(join(workspace().path, 'd'));
  expect(await grep('secret|localhost')).toEqual({ matches: [], count: 0, total_found: 0 });
  for (const pattern of ['(x', '[z', '', '\0']) expect(await grep(pattern)).toMatchObject(failed('INVALID_ARGUMENT'));
  for (const more of [
    ...[{ output_mode: 'lines' }, { context: -1 }, { context: '2' }, { path: 'd' }, { file_pattern: '[a' }],
    ...[{ head_limit: 1.5 }, { case_insensitive: 'no' }, { file_pattern: '' }],
  ]) {
    expect(await grep('x', more)).toMatchObject(failed('INVALID_ARGUMENT'));
  }
  expect(await grep('x', { directory: 'none' })).toMatchObject(failed('NOT_FOUND', /^Directory not found/));
  expect(await grep('x', { directory: '/etc' })).toMatchObject(failed('ACCESS_DENIED'));
  await workspace().put('min.js', `${'k'.repeat(10_000)}\n`);
  const long = (await grep('k+')) as { matches: { content: string }[] };
  expect(long.matches[0]?.content.length).toBeLessThan(2200);
});
