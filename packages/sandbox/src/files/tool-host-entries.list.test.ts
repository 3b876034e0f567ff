import { execFileSync } from 'node:child_process';
import type { WorkspaceFiles } from '@holdpoint/contract';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { WorkspaceMount } from '../port.ts';
import { useTestHost } from '../testing/host.ts';

const { host } = useTestHost();
let workspace: WorkspaceMount;
let files: WorkspaceFiles;

beforeAll(() => {
  workspace = host.makeWorkspace();
  files = host.sandbox.files(workspace);
});
beforeEach(() => {
  own('chmod -R u+rwX . && find . -mindepth 1 -delete');
});

/** Runs a shell line as the workspace's owner, on the host. */
const own = (line: string) => {
  const { uid, gid } = workspace;
  execFileSync('bash', ['-c', line], { cwd: workspace.path, ...(process.getuid?.() === 0 && { uid, gid }) });
};

test('stat without follow describes a link itself', async () => {
  own(
    'printf 12345 > f && ln -s f link && ln -s nowhere dangling && ln -s /etc/passwd out && mkdir d && ln -s d way && touch d/g',
  );
  expect(await files.stat('link')).toMatchObject({ type: 'file', bytes: 5 });
  expect(await files.stat('link', { follow: false })).toMatchObject({ type: 'symlink', bytes: 1 });
  expect(await files.stat('dangling', { follow: false })).toMatchObject({ type: 'symlink' });
  expect(await files.stat('out', { follow: false })).toMatchObject({ type: 'symlink' });
  expect(await files.stat('way/g', { follow: false })).toMatchObject({ type: 'file' });
  await expect(files.stat('dangling')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(files.stat('out')).rejects.toMatchObject({ code: 'EOUTSIDE' });
});

test('a list says size, time and type of each entry', async () => {
  own('printf 123 > f && touch -d @1600000000.5 f && mkdir d && ln -s f l && mkfifo p && touch .h');
  const { entries, total, totals } = await files.list('.');
  expect(entries.map(({ name, type }) => `${name} ${type}`)).toEqual([
    '.h file',
    'd directory',
    'f file',
    'l symlink',
    'p other',
  ]);
  expect(entries[2]).toEqual({ name: 'f', type: 'file', bytes: 3, mtime_ms: 1_600_000_000_500 });
  expect([total, totals]).toEqual([5, { file: 2, directory: 1, symlink: 1, other: 1 }]);
});

test('a recursive list has paths below the directory, and enters no link', async () => {
  own(
    'mkdir -p a/b/.c x && touch a/b/f a/b/.c/g a-b x/y && ln -s ../x a/link && ln -s . a/self && mkdir shut && touch shut/z && chmod 000 shut',
  );
  const names = async (path: string, more = {}) =>
    (await files.list(path, { recursive: true, ...more })).entries.map(({ name }) => name);
  expect(await names('.')).toEqual([
    ...['a', 'a-b', 'a/b', 'a/b/.c', 'a/b/.c/g', 'a/b/f', 'a/link', 'a/self', 'shut', 'x', 'x/y'],
  ]);
  expect(await names('a', { hidden: false })).toEqual(['b', 'b/f', 'link', 'self']);
  expect(await files.list('a', { recursive: true, limit: 1 })).toMatchObject({
    entries: [{ name: 'b' }],
    total: 6,
    totals: { directory: 2, file: 2, symlink: 2 },
  });
  await expect(files.list('shut', { recursive: true })).rejects.toMatchObject({ code: 'EACCES' });
});

test('names of any bytes are listed with their sizes', async () => {
  own(`printf 1 > $'new\\nline'; printf 12 > $'\\xff\\xfe'; mkdir $'d\\xff'; printf 123 > $'d\\xff/in'`);
  const { entries } = await files.list('.', { recursive: true });
  expect(entries.map(({ name, type, bytes }) => [name, type === 'file' ? bytes : 0])).toEqual([
    ...[['d\uFFFD', 0] as const, ['d\uFFFD/in', 3] as const, ['new\nline', 1] as const, ['\uFFFD\uFFFD', 2] as const],
  ]);
});

test('a list of more entries than it shows counts all of them', async () => {
  own(`mkdir -p wide/sub && cd wide && seq -f 'file-%06g' 0 10999 | xargs touch`);
  for (const recursive of [false, true]) {
    const { entries, total, totals } = await files.list('wide', { recursive, limit: 10 });
    expect([entries.length, total, totals.file]).toEqual([10, 11_001, 11_000]);
  }
  expect((await files.list('wide')).entries).toHaveLength(10_000);
});

test('directories that disappear while they are listed do no harm', async () => {
  own('mkdir -p stays && touch stays/f');
  const controller = new AbortController();
  const line = 'while :; do mkdir -p d/{1..20}/x; rm -rf d; done';
  const churn = host.run(workspace, line, { signal: controller.signal });
  for (let round = 0; round < 40; round++) {
    const { entries } = await files.list('.', { recursive: true });
    expect(entries.map(({ name }) => name)).toContain('stays/f');
  }
  controller.abort();
  await churn;
});

test('glob sorts, limits its depth and reports facts', async () => {
  own('mkdir -p a/b/c && printf 1 > z && printf 123 > a/y && printf 12 > a/b/x && printf 12 > a/b/c/w && ln -s z l');
  own('touch -d @100 z && touch -d @300 a/y && touch -d @200 a/b/x a/b/c/w');
  const patterns = ['**'];
  expect(await files.glob({ patterns, facts: true, limit: 2 })).toEqual({
    paths: ['a/b/c/w', 'a/b/x'],
    facts: [
      { path: 'a/b/c/w', bytes: 2, mtime_ms: 200_000 },
      { path: 'a/b/x', bytes: 2, mtime_ms: 200_000 },
    ],
    total: 4,
    truncated: true,
  });
  expect((await files.glob({ patterns, sort: 'newest' })).paths).toEqual(['a/y', 'a/b/c/w', 'a/b/x', 'z']);
  expect((await files.glob({ patterns, sort: 'largest', limit: 2 })).paths).toEqual(['a/y', 'a/b/c/w']);
  expect((await files.glob({ patterns, depth: 1 })).paths).toEqual(['z']);
  expect((await files.glob({ patterns: ['**/*'], depth: 2 })).paths).toEqual(['a/y', 'z']);
  expect((await files.glob({ patterns, depth: 0 })).paths).toEqual([]);
  expect(await files.glob({ patterns: ['l'], type: 'any', facts: true })).toMatchObject({
    facts: [{ path: 'l', bytes: 1 }],
  });
});

test.each(['[a', 'a]', '{a', 'a{b,c', '(a', 'a)', '[z-a]', '{1..1000000}', '{a,b}'.repeat(30)])(
  'the pattern %s is refused',
  async (pattern) => {
    for (const query of [
      { patterns: [pattern] },
      { patterns: [pattern], depth: 0 },
      { patterns: ['*'], ignore: [pattern] },
    ]) {
      await expect(files.glob(query)).rejects.toMatchObject({ name: 'FileError', code: 'EGLOBINVALID' });
    }
  },
);

test('a pattern finds names with line breaks, and what is inside a directory alone', async () => {
  own(`mkdir -p x/y .d $'a\\nb' && touch x/f x/y/g .d/f $'a\\nb/c\\rd' $'x/u\\xe2\\x80\\xa8'`);
  const paths = async (text: string, more = {}) => (await files.glob({ patterns: [text], ...more })).paths;
  expect(await paths('**')).toEqual(['a\nb/c\rd', 'x/f', 'x/u\u2028', 'x/y/g']);
  expect(await paths('?\n?/c?d')).toEqual(['a\nb/c\rd']);
  expect(await paths('c*', { cwd: 'a\nb', facts: true })).toEqual(['a\nb/c\rd']);
  expect(await paths('x/**', { type: 'any' })).toEqual(['x/f', 'x/u\u2028', 'x/y', 'x/y/g']);
  expect(await paths('?/?/g')).toEqual(['x/y/g']);
  expect(await paths('?d/f')).toEqual([]);
  expect(await paths('?d/f', { dot: true })).toEqual(['.d/f']);
});

test.each([
  'app/[id]/(group)/page.tsx',
  '[[:alpha:]]*',
  '{a,b}/{c,d}',
  '{1..100}',
  '\\[a',
  '!(a|b)',
  '{a,{b,c}}',
  '[!a]',
  '[]-]',
])('the pattern %s is accepted', async (pattern) => {
  expect(await files.glob({ patterns: [pattern], depth: 0 })).toMatchObject({ paths: [] });
});
