import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finished, git, plan, useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();
const { client } = system;

const edit = { tool: 'edit', args: { path: 'src/a.txt', old_string: 'two', new_string: 'zwei' } };
const files = { 'src/a.txt': 'one\ntwo\nthree\n', 'README.md': 'read me\n' };

test('a git source gets a new branch; HEAD, index and work tree do not change', async () => {
  const path = await system.repositoryWith(files);
  await writeFile(join(path, 'README.md'), 'the user is writing\n');
  const head = await git(path, 'rev-parse', 'HEAD');

  const { run } = await client.createRun({ plan: plan([edit]), workspace: { source: { type: 'git', path } } });
  const done = await finished(client, run.id);
  expect(done).toMatchObject({ status: 'succeeded' });
  const diff = await client.diff(run.id);
  expect(diff.files.map((file) => [file.path, file.status, file.additions, file.deletions])).toEqual([
    ['src/a.txt', 'modified', 1, 1],
  ]);

  const stale = client.publish(run.id, { snapshot: 'f'.repeat(40) });
  await expect(stale).rejects.toMatchObject({ status: 409, code: 'snapshot_changed' });
  const { published } = await client.publish(run.id, { snapshot: done.workspace.snapshot ?? '' });
  expect(published).toMatchObject({ type: 'git', branch: `refs/heads/holdpoint/${run.id}` });

  expect(await git(path, 'show', `holdpoint/${run.id}:src/a.txt`)).toBe('one\nzwei\nthree');
  expect(await git(path, 'rev-parse', `holdpoint/${run.id}^`)).toBe(head);
  expect(await git(path, 'rev-parse', 'HEAD')).toBe(head);
  expect(await git(path, 'status', '--porcelain')).toBe('M README.md');
  expect(await readFile(join(path, 'src/a.txt'), 'utf8')).toBe(files['src/a.txt']);
});

test('git applies the patch', async () => {
  const path = await system.repositoryWith(files);
  const { run } = await client.createRun({ plan: plan([edit]), workspace: { source: { type: 'git', path } } });
  await finished(client, run.id);
  const patch = join(path, '..', `${run.id}.patch`);
  await writeFile(patch, await client.patch(run.id));
  await git(path, 'apply', patch);
  expect(await readFile(join(path, 'src/a.txt'), 'utf8')).toBe('one\nzwei\nthree\n');
});

test('a directory gets all files or none; a file that its user changed is a conflict', async () => {
  const path = await system.directoryWith(files);
  const source = { type: 'directory' as const, path };
  const { run: first } = await client.createRun({ plan: plan([edit]), workspace: { source } });
  const { run: second } = await client.createRun({ plan: plan([edit]), workspace: { source } });
  await finished(client, first.id);
  await finished(client, second.id);
  expect(await readFile(join(path, 'src/a.txt'), 'utf8')).toBe(files['src/a.txt']);

  const { published } = await client.publish(first.id);
  expect(published).toMatchObject({ type: 'directory', files_written: 1, files_deleted: 0 });
  expect(await readFile(join(path, 'src/a.txt'), 'utf8')).toBe('one\nzwei\nthree\n');

  await writeFile(join(path, 'src/a.txt'), 'the user wrote this\n');
  await expect(client.publish(second.id)).rejects.toMatchObject({ status: 409, code: 'publish_conflict' });
  expect(await readFile(join(path, 'src/a.txt'), 'utf8')).toBe('the user wrote this\n');
  expect((await client.getRun(second.id)).publication).toMatchObject({ status: 'parked' });

  expect(await client.discard(second.id)).toMatchObject({ run_id: second.id });
  await client.waitForRun(second.id, { until: (run) => run.publication.status === 'discarded' });
});

test('a failed run is not published', async () => {
  const path = await system.directoryWith(files);
  const missing = { tool: 'edit', args: { path: 'src/a.txt', old_string: 'four', new_string: 'vier' } };
  const { run } = await client.createRun({
    plan: plan([edit], [missing]),
    workspace: { source: { type: 'directory', path } },
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'failed', reason: { code: 'ENOMATCH' } });
  await expect(client.publish(run.id)).rejects.toMatchObject({ status: 409, code: 'run_not_succeeded' });
  expect(await readFile(join(path, 'src/a.txt'), 'utf8')).toBe(files['src/a.txt']);
});
