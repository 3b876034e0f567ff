import type { Source } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { countingGit } from './testing/counting-git.ts';
import { writeTree } from './testing/file-tree.ts';
import { runId, type Temporary, temporary } from './testing/index.ts';
import { git } from './testing/real-git.ts';

const files = Object.fromEntries(
  Array.from({ length: 100 }, (_, at) => [`dir${at % 10}/file${at}.txt`, `file ${at}\n`] as const),
);
const rules = { '.gitignore': 'dist/\n*.log\n', '.gitattributes': '* text=auto\n' };

/** The most programs that each operation may start; a call `cold` is the first of a process, which has nothing of the run in memory. */
type Most = Record<(typeof operations)[number], number>;
const operations = [
  'materialise',
  'materialise again',
  'snapshot',
  'snapshot cold',
  'fork',
  'fork cold',
  'diff cold',
  'restore',
  'restore cold',
  'take over cold',
  'preview cold',
  'plan cold',
  'publish cold',
  'discard',
] as const;

const usual = {
  ...{ snapshot: 0, 'snapshot cold': 1, fork: 2, 'fork cold': 2, 'diff cold': 3 },
  ...{ restore: 1, 'restore cold': 1, 'take over cold': 1 },
};

const sources: Record<
  string,
  { type: 'directory' | 'git'; commits: number; more: Record<string, string>; most: Most }
> = {
  'a directory': {
    ...{ type: 'directory', commits: 0, more: rules },
    most: {
      ...usual,
      ...{ materialise: 0, 'materialise again': 0 },
      ...{ 'preview cold': 1, 'plan cold': 1, 'publish cold': 1, discard: 0 },
    },
  },
  'a repository of one commit': {
    ...{ type: 'git', commits: 1, more: {} },
    most: {
      ...usual,
      ...{ materialise: 4, 'materialise again': 1 },
      ...{ 'preview cold': 1, 'plan cold': 1, 'publish cold': 5, discard: 0 },
    },
  },
  'a repository with ignore rules and attributes': {
    ...{ type: 'git', commits: 1, more: rules },
    most: {
      ...usual,
      ...{ materialise: 4, 'materialise again': 1, 'diff cold': 4 },
      ...{ 'preview cold': 3, 'plan cold': 3, 'publish cold': 7, discard: 0 },
    },
  },
  // Two more programs copy the objects of the earlier commits.
  'a repository with a history, packed': {
    ...{ type: 'git', commits: 5, more: rules },
    most: {
      ...usual,
      ...{ materialise: 6, 'materialise again': 1, 'diff cold': 4 },
      ...{ 'preview cold': 3, 'plan cold': 3, 'publish cold': 7, discard: 0 },
    },
  },
};

function sourceOf(place: Temporary, { type, commits, more }: (typeof sources)[string]): Source {
  const path = place.source({ ...files, ...more }, type);
  for (let number = 1; number < commits; number++) {
    writeTree(path, { 'dir1/file1.txt': `version ${number}\n` });
    git(path, 'commit', '-qam', `version ${number}`);
  }
  if (commits > 1) git(path, 'gc', '-q', '--prune=now');
  return { type, path };
}

for (const [name, from] of Object.entries(sources))
  test(`each operation on ${name} starts few programs`, async () => {
    using place = temporary();
    const counted = countingGit(place.path);
    const open = () => place.reopen({ gitPath: counted.gitPath });
    const found: Partial<Most> = {};
    const lines: string[] = [];
    const count = async <T>(operation: keyof Most, act: () => Promise<T>): Promise<T> => {
      counted.started();
      const result = await act();
      const started = counted.started();
      found[operation] = started.length;
      lines.push(operation, ...started);
      return result;
    };
    const source = sourceOf(place, from);
    const workspaces = open();
    const base = await count('materialise', () => workspaces.materialise({ runId, source }));
    await count('materialise again', () => open().materialise({ runId: 'run_2', source }));
    const tree = await place.tree();
    writeTree(tree, { 'dir0/file0.txt': 'A\n', 'new/file': 'new\n', 'dist/x.js': 'x\n' });
    const take = (parent: string) => ({ runId, epoch: 1, parent, message: '' });
    const one = await count('snapshot', () => workspaces.snapshot(take(base.id)));
    writeTree(tree, { 'dir1/file1.txt': 'B\n' });
    const two = await count('snapshot cold', () => open().snapshot(take(one.id)));
    await count('fork', () => workspaces.fork({ runId: 'run_3', from: { runId, snapshot: one.id } }));
    await count('fork cold', () => open().fork({ runId: 'run_4', from: { runId, snapshot: two.id } }));
    const { files: shown } = await count('diff cold', () => open().diff({ runId, from: base.id, to: two.id }));
    expect(shown.map(({ path }) => path)).toContain('dir1/file1.txt');
    await count('restore', () => workspaces.restore({ runId, epoch: 1, snapshot: one.id }));
    await count('restore cold', () => open().restore({ runId, epoch: 1, snapshot: two.id }));
    await count('take over cold', () => open().takeOver({ runId, epoch: 2, snapshot: two.id }));
    const request = { runId, snapshot: two.id, target: { message: 'm' } };
    const previewed = await count('preview cold', () => open().previewPublish(request));
    const plan = await count('plan cold', () => open().planPublish(request));
    expect(plan).toEqual(previewed);
    expect(plan.conflicts).toEqual([]);
    const done = await count('publish cold', () => open().publish({ ...request, expect: plan.digest }));
    expect(done).toMatchObject({ status: 'published' });
    await count('discard', () => open().discard(runId));
    const over = operations.filter((operation) => (found[operation] ?? Number.NaN) > from.most[operation]);
    expect(over, lines.join('\n')).toEqual([]);
    expect(Object.keys(found).toSorted()).toEqual(operations.toSorted());
  });
