import { expect, test } from 'vitest';
import { countingGit } from '../../testing/counting-git.ts';
import { writeTree } from '../../testing/file-tree.ts';
import { runId, type Temporary, temporary } from '../../testing/index.ts';
import { git } from '../../testing/real-git.ts';

test('a plan of a publish starts at most one program, and one when it is made again', async () => {
  using place = temporary();
  const counted = countingGit(place.path);
  const workspaces = place.reopen({ gitPath: counted.gitPath });
  const source = place.source({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'dir/c.txt': 'c\n' }, 'git');
  for (const name of ['other', 'holdpoint/run_0', 'holdpoint/run_10']) git(source, 'branch', name);
  const base = await workspaces.materialise({ runId, source: { type: 'git', path: source } });
  const tree = await place.tree();
  writeTree(tree, { 'a.txt': 'A\n', 'new/file': 'new\n' });
  const { id } = await workspaces.snapshot({ runId, epoch: 1, parent: base.id, message: '' });
  expect(counted.started().length).toBeGreaterThan(0);
  const request = { runId, snapshot: id, target: { message: 'm' } };
  const plan = await workspaces.planPublish(request);
  expect(counted.started().length).toBeLessThanOrEqual(1);
  expect(await workspaces.planPublish(request)).toEqual(plan);
  expect(counted.started().length).toBeLessThanOrEqual(1);
  expect(await workspaces.publish({ ...request, expect: plan.digest })).toMatchObject({ status: 'published' });
  expect(counted.started().length).toBeLessThanOrEqual(5);
});

const files = { 'a.txt': 'a\n', 'both.txt': '1\n2\n3\n4\n5\n6\n7\n8\n', 'dir/b.txt': 'b\n' };
const rules = { '.gitignore': 'dist/\n*.log\n', '.gitattributes': '* text=auto\n' };

/** A run with a changed, a new and an ignored file. */
async function begin(place: Temporary, extra: Record<string, string>) {
  const counted = countingGit(place.path);
  const workspaces = place.reopen({ gitPath: counted.gitPath });
  const source = place.source({ ...files, ...extra }, 'git');
  git(source, 'branch', 'other');
  const base = await workspaces.materialise({ runId, source: { type: 'git', path: source } });
  const tree = await place.tree();
  const both = files['both.txt'].replace('1', 'one');
  writeTree(tree, { 'a.txt': 'A\n', 'new/file': 'new\n', 'dist/x.js': 'x\n', 'both.txt': both });
  const { id } = await workspaces.snapshot({ runId, epoch: 1, parent: base.id, message: '' });
  const count = async <T>(most: number, act: () => Promise<T>): Promise<T> => {
    counted.started();
    const result = await act();
    const started = counted.started();
    expect(started.length, started.join('\n')).toBeLessThanOrEqual(most);
    return result;
  };
  return { source, tree, id, count, reopen: () => place.reopen({ gitPath: counted.gitPath }) };
}

test('a process that has read nothing of the run plans with as few programs, and a preview as well', async () => {
  using place = temporary();
  const { id, count, reopen } = await begin(place, {});
  const request = { runId, snapshot: id, target: { message: 'm' } };
  const previewed = await count(1, () => reopen().previewPublish(request));
  expect(await count(1, () => reopen().planPublish(request))).toEqual(previewed);
});

test('with ignore rules and attributes, a plan starts at most three programs, and a later plan as well', async () => {
  using place = temporary();
  const { id, tree, count, reopen } = await begin(place, rules);
  const workspaces = reopen();
  const first = { runId, snapshot: id, target: { message: 'm' } };
  const plan = await count(3, () => workspaces.planPublish(first));
  expect(plan.left_out).toMatchObject([{ path: 'dist/', reason: 'ignored' }]);
  await count(7, () => workspaces.publish({ ...first, expect: plan.digest }));
  writeTree(tree, { 'a.txt': 'AA\n' });
  const later = await workspaces.snapshot({ runId, epoch: 1, parent: id, message: '' });
  const second = { ...first, snapshot: later.id };
  const { digest, left_out, files: changed } = await count(3, () => workspaces.planPublish(second));
  expect({ left_out, changed }).toMatchObject({ left_out: plan.left_out, changed: [{ path: 'a.txt' }] });
  const done = await count(7, () => workspaces.publish({ ...second, expect: digest }));
  expect(done).toMatchObject({ status: 'published' });
});

test.for([
  ['without rules', {}, 2],
  ['with ignore rules and attributes', rules, 4],
] as const)(
  'a plan for a moved branch reads both trees and all contents with one program, %s',
  async ([_, extra, most]) => {
    using place = temporary();
    const { source, id, count, reopen } = await begin(place, extra);
    git(source, 'checkout', '-q', 'other');
    writeTree(source, { 'both.txt': files['both.txt'].replace('8', 'eight') });
    git(source, 'commit', '-qam', 'theirs');
    git(source, 'checkout', '-q', '-');
    const request = { runId, snapshot: id, target: { message: 'm', branch: 'other' } };
    const plan = await count(most, () => reopen().planPublish(request));
    expect(plan.conflicts).toEqual([]);
    const workspaces = reopen();
    const publish = () => workspaces.publish({ ...request, expect: plan.digest });
    expect(await count(most + 4, publish)).toMatchObject({ status: 'published' });
    expect(git(source, 'show', 'other:both.txt')).toBe('one\n2\n3\n4\n5\n6\n7\neight');
  },
);
