import { execFileSync } from 'node:child_process';
import type { WorkspaceFiles } from '@holdpoint/contract';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { WorkspaceMount } from '../port.ts';
import { useTestHost } from '../testing/host.ts';

const { host } = useTestHost();
let workspace: WorkspaceMount;
let files: WorkspaceFiles;

const names = [
  ...[
    'a',
    'b',
    'ab',
    'a.ts',
    'b.ts',
    '.h',
    'A',
    'a-b',
    '[x]',

    'a b',
    'x/a',
    'x/b.ts',
    'x/.h/a',
    'x/y/a',
    'x/y/z/a.ts',
  ],
  ...['abx/x/b', '.d/a', 'x/y.ts/a', 'a+b', 'a!', 'x/new\nline', 'x/[a]/b', 'x/[a]/[b]', 'a{b}', 'a+', 'x/]', 'aa'],
];

beforeAll(() => {
  workspace = host.makeWorkspace();
  files = host.sandbox.files(workspace);
  const line =
    'git init -q . && while IFS= read -r -d "" name; do mkdir -p "$(dirname "$name")" && : >"$name"; done && git add -A';
  execFileSync('bash', ['-c', line], { ...owner(), input: names.map((name) => `${name}\0`).join('') });
});

const owner = () => {
  const { uid, gid } = workspace;
  const env = { PATH: process.env.PATH, HOME: workspace.path };
  return { cwd: workspace.path, encoding: 'utf8' as const, env, ...(process.getuid?.() === 0 && { uid, gid }) };
};

/**
 * What git finds. A pathspec without wildcards also names what is below a directory; such paths are left out. git's `?` is one byte, so no name
 * here has other characters than ASCII.
 */
const gitFinds = (pattern: string): string[] =>
  execFileSync('git', ['ls-files', '-z', '--', `:(glob)${pattern}`], owner())
    .split('\0')
    .filter((path) => /(^|[^\\])[*?[]/.test(pattern) || path === pattern.replaceAll('\\', ''))
    .filter(Boolean)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

const atom = fc.constantFrom(
  'a',
  'b',
  'x',
  'y',
  '.ts',
  '*',
  '?',
  '[ab]',
  '[!a]',
  '[a-x]',
  '-',
  '.',
  'h',

  '\\[x\\]',
  '\\a',
  '+',
);
const segment = fc.array(atom, { minLength: 1, maxLength: 3 }).map((atoms) => atoms.join(''));
const pattern = fc
  .array(fc.oneof({ weight: 3, arbitrary: segment }, { weight: 1, arbitrary: fc.constant('**') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((segments) => segments.join('/'));

/** Characters that mean something to a matcher of globs in other places than these. */
const literals = [
  ...['\\[x\\]', 'x/\\[a\\]/\\[b\\]', '\\[*', '*\\]', 'x/\\]', 'x/\\[a\\]/*', 'a\\{b\\}', '?\\{b\\}'],
  ...['[a-x]+', '[!x]+', 'a+', '?+b', '[a+]', '?+/**', '[+a]b', 'a\\+b', '*+*', '[\\]x]'],
];

test("agrees with git's wildmatch", async () => {
  await fc.assert(
    fc.asyncProperty(pattern, async (text) => {
      // `**` beside other characters, and a name of dots, mean different things in both.
      fc.pre(!/[^/]\*\*|\*\*[^/]/.test(text) && !/(^|\/)\.{1,2}(\/|$)/.test(text));
      const { paths } = await files.glob({ patterns: [text], ignore: ['.git/**'], dot: true });
      expect([text, paths]).toEqual([text, gitFinds(text)]);
    }),
    { numRuns: 60, examples: literals.map((text) => [text]) },
  );
});

test('no path is found twice, whatever patterns and braces name it', async () => {
  for (const patterns of [['{x,x/y}/**/a'], ['x/**/a', '**/a'], ['**/a', '**/a']]) {
    const { paths, total } = await files.glob({ patterns });
    expect([patterns, total, paths]).toEqual([patterns, new Set(paths).size, [...new Set(paths)]]);
    expect(paths).toContain('x/y/a');
  }
});

test('a tree that is too large to be looked through at once is found whole', async () => {
  const large = host.makeWorkspace();
  const line = 'for folder in a b c; do mkdir "$folder"; (cd "$folder" && seq 3500 | xargs touch); done';
  const { uid, gid } = large;
  execFileSync('bash', ['-c', line], { cwd: large.path, ...(process.getuid?.() === 0 && { uid, gid }) });
  const all = host.sandbox.files(large);
  const { paths, total, truncated } = await all.glob({ patterns: ['*/*1'], limit: 10 });
  expect([total, truncated, paths.length]).toEqual([1050, true, 10]);
  for (const sort of ['path', 'newest'] as const) {
    const last = await all.glob({ patterns: ['*/*'], offset: 10_490, limit: 10_000, facts: true, sort });
    expect([last.total, last.truncated, last.paths.length, last.facts?.length]).toEqual([10_500, false, 10, 10]);
  }
});
