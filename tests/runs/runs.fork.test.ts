import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allowBash, approve, bash, finished, git, nextApproval, plan, useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();
const { client } = system;

const inTree = (runId: string, name: string) => readFile(join(system.tree(runId), name), 'utf8');

test('a fork from before the failed step, with another plan, is published', async () => {
  const path = await system.repositoryWith({ 'a.txt': 'a\n' });
  const kept = [bash('echo first >> a.txt; head -c 40000 /dev/zero | tr "\\0" x > large')];
  const { run } = await client.createRun({
    plan: plan(kept, [bash('echo wrong >> a.txt; exit 3')], [bash('echo never >> a.txt')]),
    workspace: { source: { type: 'git', path } },
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'failed' });

  const snapshots = (await client.listSnapshots(run.id)).data;
  expect(snapshots.map(({ step, current }) => `${step?.number ?? 'base'}${current ? ' current' : ''}`)).toEqual([
    'base',
    '1',
    '2 current',
  ]);
  const { run: fork } = await client.forkRun(run.id, { from_step: 1, plan: plan(kept, [bash('echo right >> a.txt')]) });
  const done = await finished(client, fork.id);
  expect(done).toMatchObject({ status: 'succeeded', forked_from: { run_id: run.id } });
  expect(await inTree(fork.id, 'a.txt')).toBe('a\nfirst\nright\n');
  expect(await inTree(run.id, 'a.txt')).toBe('a\nfirst\nwrong\n');
  expect((await client.diff(fork.id)).files.map((file) => file.path)).toEqual(['a.txt', 'large']);
  const { published } = await client.publish(fork.id);
  expect(published).toMatchObject({ branch: `refs/heads/holdpoint/${fork.id}` });
  expect(await git(path, 'show', `holdpoint/${fork.id}:a.txt`)).toBe('a\nfirst\nright');
});

test('undo removes all changes of the steps, and the steps run again', async () => {
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }, allowBash] };
  const last = { tool: 'write_file', args: { path: 'last.txt', content: 'last' } };
  const { run } = await client.createRun({
    plan: plan(
      [bash('echo one >> a.txt')],
      [bash('date +%N > stamp; mkdir -p deep/er; echo x > deep/er/file; rm a.txt')],
      [last],
    ),
    workspace: { source: { type: 'directory', path } },
    policy,
  });
  await nextApproval(client, run.id);
  const stamp = await inTree(run.id, 'stamp');
  await client.pauseRun(run.id);
  const { undone } = await client.undoSteps(run.id, { to_step: 1 });
  expect(undone).toHaveLength(2);
  expect(await inTree(run.id, 'a.txt')).toBe('a\none\n');
  await expect(inTree(run.id, 'stamp')).rejects.toThrow('ENOENT');
  await expect(inTree(run.id, 'deep/er/file')).rejects.toThrow('ENOENT');
  await client.resumeRun(run.id);
  await approve(client, await nextApproval(client, run.id));
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(await inTree(run.id, 'stamp')).not.toBe(stamp);
  const statuses = (await client.listSteps(run.id)).data.map((step) => step.status);
  expect(statuses.sort()).toEqual(['succeeded', 'succeeded', 'succeeded', 'undone', 'undone']);
});
