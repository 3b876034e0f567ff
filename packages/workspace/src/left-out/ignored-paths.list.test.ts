import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { type FileTree, git, gitBytes, runId, type Temporary, temporary, writeTree } from '../testing/index.ts';

/** The files that a run adds, and the files that `git add` adds in a work tree with the same files. */
async function compare(t: Temporary, input: { base: FileTree; made: FileTree; shared?: string; ignoreCase?: boolean }) {
  const path = t.source(input.base);
  git(t.path, 'init', '-q', '-b', 'main', path);
  git(path, 'add', '-A', '-f');
  git(path, 'commit', '-q', '--allow-empty', '-m', 'base');
  appendFileSync(join(path, '.git/info/exclude'), input.shared ?? '');
  if (input.ignoreCase) git(path, 'config', 'core.ignoreCase', 'true');
  const { base, path: tree } = await t.begin({ type: 'git', path });
  writeTree(tree, input.made);
  const { id } = await t.snapshot(base.id);
  const { files } = await t.workspaces.diff({ runId, from: base.id, to: id });
  writeTree(path, input.made);
  git(path, 'add', '-A');
  const added = gitBytes(path, ['diff', '--cached', '--name-only', '-z']).toString('utf8').split('\0').slice(0, -1);
  return { ours: files.map((file) => file.path).sort(), gits: added.sort() };
}

const rules = [
  ...['node_modules/', '*.log', '!keep.log', '/top', 'a/**/z', '**/cache', 'deep/**', '!deep/keep', 'x/*', '!x/y'],
  ...['\\#hash', '\\!bang', 'sp\\ ace', 'trail   ', '[ab]c', '[!ab]d', 'd?g', 'Case', 'üm*', '# comment', ''],
  ...['*.tar.gz'],
].join('\n');

const made = Object.fromEntries(
  [
    ...['node_modules/p/i.js', 'sub/node_modules/p/i.js', 'a.log', 'keep.log', 'top', 'sub/top', 'a/z', 'a/b/c/z'],
    ...['cache/1', 'sub/cache/1', 'deep/1', 'deep/keep', 'deep/er/keep', 'x/y', 'x/z', 'x/y2/z', '#hash', '!bang'],
    ...['sp ace', 'trail', 'ac', 'cc', 'cd', 'ad', 'dog', 'dg', 'case', 'Case', 'ümlaut', 'b.tar.gz'],
    ...[':(top)odd', '-dash'],
    ...['tracked/new', 'tracked/new.log', 'inner/a.txt', 'inner/b.txt', 'inner/sub/a.txt', 'links/a', 'new\nline.log'],
  ].map((path) => [path, 'x\n']),
);

test.for([false, true])('git ignores the same files (ignoreCase: %s)', async (ignoreCase, { t }) => {
  const { ours, gits } = await compare(t, {
    base: { '.gitignore': rules, 'tracked/old.log': 'tracked\n', tracked2: { link: 'nowhere' } },
    made: {
      ...made,
      'inner/.gitignore': '*.txt\n!b.txt\n/sub/\n',
      'links/.gitignore': { link: '../inner/.gitignore' },
      'x/.gitignore': '!z\n',
      'tracked/old.log': 'changed\n',
      nodes: { link: 'node_modules' },
    },
    shared: 'd*g\n',
    ignoreCase,
  });
  expect(ours).toEqual(gits);
  expect(ours.length).toBeGreaterThan(10);
});

test('matches names that are not UTF-8 as bytes', async ({ t }) => {
  const path = t.source({ '.gitignore': Buffer.from('caf\xe9*\n', 'latin1') }, 'git');
  const { base, path: tree } = await t.begin({ type: 'git', path });
  const { writeFileSync } = await import('node:fs');
  for (const name of ['caf\xe9', 'th\xe9']) {
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from(name, 'latin1')]), 'x');
  }
  const { id } = await t.snapshot(base.id);
  const { files, left_out } = await t.workspaces.diff({ runId, from: base.id, to: id });
  expect(files.map((file) => file.path)).toEqual(['"th\\351"']);
  expect(left_out.map((one) => one.path)).toEqual(['"caf\\351"']);
});

test('git ignores the same files for random rules and files', async () => {
  const name = fc.constantFrom('a', 'b', 'ab', 'dist', 'a.log');
  const glob = fc.constantFrom('a', '*', '**', 'a*', '*.log', 'dist', '?', '[ab]');
  const rule = fc
    .tuple(
      fc.constantFrom('', '!'),
      fc.constantFrom('', '/'),
      fc.array(glob, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '/'),
    )
    .map(([not, top, parts, end]) => `${not}${top}${parts.join('/')}${end}`);
  const ruleFile = fc.array(rule, { maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`);
  const folder = fc.array(name, { maxLength: 3 }).map((names) => names.map((one) => `${one}.d/`).join(''));
  const file = fc.tuple(folder, name).map(([at, one]) => `${at}${one}`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { minLength: 1, maxLength: 8 }),
      fc.array(fc.tuple(folder, ruleFile), { maxLength: 3 }),
      fc.array(file, { maxLength: 2 }),
      async (paths, ruleFiles, tracked) => {
        using t = temporary();
        const content = (names: readonly string[]) => Object.fromEntries(names.map((path) => [path, 'x\n']));
        const { ours, gits } = await compare(t, {
          base: { ...content(tracked), '.gitignore': 'dist/\n*.log\n' },
          made: { ...content(paths), ...Object.fromEntries(ruleFiles.map(([at, text]) => [`${at}.gitignore`, text])) },
        });
        expect(ours).toEqual(gits);
      },
    ),
    { numRuns: 12 },
  );
}, 120_000);
