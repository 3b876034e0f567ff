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
  ...['abx/x/b', '.d/a', 'x/y.ts/a', 'a+b', 'a!', 'x/new\nline'],
];

beforeAll(() => {
  workspace = host.makeWorkspace();
  files = host.sandbox.files(workspace);
  const line =
    'git init -q . && while IFS= read -r -d "" name; do mkdir -p "$(dirname "$name")" && : >"$name"; done && git add -A';
  own(line, names.map((name) => `${name}\0`).join(''));
});

/** Runs a shell line as the workspace's owner, on the host. */
function own(line: string, input = ''): string {
  const { uid, gid } = workspace;
  return execFileSync('bash', ['-c', line], {
    ...{ cwd: workspace.path, encoding: 'utf8', input, env: { PATH: process.env.PATH, HOME: workspace.path } },
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
}

/** What git finds. git's `?` is one byte, so no name here has other characters than ASCII. . A pathspec also names what is below a directory; such paths are left out. */
const gitFinds = (pattern: string): string[] =>
  own(`git ls-files -z -- ':(glob)${pattern.replaceAll("'", `'\\''`)}'`)
    .split('\0')
    .filter((path) => path !== '' && (/[*?[]/.test(pattern) || path === pattern))
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

test("agrees with git's wildmatch", async () => {
  await fc.assert(
    fc.asyncProperty(pattern, async (text) => {
      // `**` beside other characters, and a name of dots, mean different things in both.
      fc.pre(!/[^/]\*\*|\*\*[^/]/.test(text) && !/(^|\/)\.{1,2}(\/|$)/.test(text));
      const { paths } = await files.glob({ patterns: [text], ignore: ['.git/**'], dot: true });
      expect([text, paths]).toEqual([text, gitFinds(text)]);
    }),
    { numRuns: 150 },
  );
});
