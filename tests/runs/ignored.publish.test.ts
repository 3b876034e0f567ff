import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  approve,
  bash,
  finished,
  git,
  nextApproval,
  plan,
  published,
  succeed,
  useSharedSystem,
} from '../harness/index.ts';

const system = useSharedSystem();
const { client } = system;

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

test('ignored files are in no diff, preview or commit; validators have them', async () => {
  const path = await system.repositoryWith({ '.gitignore': 'node_modules/\ndist/\n', 'src/add.ts': 'one\n' });
  const build = 'mkdir -p node_modules/left-pad dist; echo 1 > node_modules/left-pad/index.js; echo b > dist/out.js';
  const run = await succeed(client, {
    plan: plan([bash(`${build}; echo two > src/add.ts`)]),
    validators: [{ command: 'test -f node_modules/left-pad/index.js' }],
    workspace: { source: { type: 'git', path } },
  });
  const left_out = [
    { path: 'dist/', reason: 'ignored', files: 1, bytes: 2 },
    { path: 'node_modules/', reason: 'ignored', files: 1, bytes: 2 },
  ];

  const diff = await client.diff(run.id);
  expect(diff.files.map((file) => file.path)).toEqual(['src/add.ts']);
  expect(diff.left_out).toEqual(left_out);
  expect(await client.patch(run.id)).not.toContain('node_modules');
  expect((await client.diff(run.id, { include_ignored: true })).files).toHaveLength(3);
  const preview = await client.previewPublish(run.id);
  expect(preview.files.map((file) => file.path)).toEqual(['src/add.ts']);
  expect(preview).toMatchObject({ left_out, needs_approval: false });

  expect(await client.publish(run.id)).toMatchObject({ status: 'published', published: { left_out } });
  expect(await git(path, 'diff', '--name-only', 'main', `holdpoint/${run.id}`)).toBe('src/add.ts');
  expect((await client.getRun(run.id)).publication.published).toMatchObject({ left_out });
  expect(await client.publish(run.id, { include_ignored: true })).toMatchObject({ published: { left_out: [] } });
  expect((await git(path, 'diff', '--name-only', 'main', `holdpoint/${run.id}`)).split('\n')).toHaveLength(3);
});

test('a run may publish ignored files when it was created that way', async () => {
  const path = await system.repositoryWith({ '.gitignore': 'dist/\n', 'src/add.ts': 'one\n' });
  const { run } = await client.createRun({
    plan: plan([bash('mkdir dist; echo b > dist/out.js')]),
    publish: { include_ignored: true },
    workspace: { source: { type: 'git', path } },
  });
  expect(await finished(client, run.id)).toMatchObject({ request: { publish: { include_ignored: true } } });
  expect((await client.diff(run.id)).files.map((file) => file.path)).toEqual(['dist/out.js']);
  expect(await client.publish(run.id)).toMatchObject({ status: 'published', published: { left_out: [] } });
  expect(await git(path, 'show', `holdpoint/${run.id}:dist/out.js`)).toBe('b');
});

test('a file of 80 MB reaches a directory byte for byte', async () => {
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const { run } = await client.createRun({
    plan: plan([bash('head -c 80000000 /dev/zero | tr "\\0" x > big; echo b > a.txt')]),
    workspace: { source: { type: 'directory', path } },
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const diff = await client.diff(run.id);
  expect(diff.files.map((file) => [file.path, file.binary])).toEqual([
    ['a.txt', false],
    ['big', true],
  ]);
  expect(await client.publish(run.id)).toMatchObject({ published: { files_written: 2, left_out: [] } });
  expect(await digestOf(join(path, 'big'))).toBe(createHash('sha256').update('x'.repeat(80_000_000)).digest('hex'));
});

test('a pipe cannot be published, so the publish waits for an approval that names it', async () => {
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const { run } = await client.createRun({
    plan: plan([bash('mkfifo pipe; echo b > a.txt')]),
    workspace: { source: { type: 'directory', path } },
  });
  await finished(client, run.id);
  const pipe = { path: 'pipe', reason: 'fifo', files: 1, bytes: 0, modified_at: expect.any(String) };
  expect((await client.diff(run.id)).left_out).toEqual([pipe]);
  expect(await client.previewPublish(run.id)).toMatchObject({ left_out: [pipe], needs_approval: true });
  expect(await client.publish(run.id)).toMatchObject({ status: 'parked' });
  const approval = await nextApproval(client, run.id);
  expect(approval).toMatchObject({ kind: 'publish', preview: { left_out: [pipe] } });
  expect(approval.reason).toContain('pipe');
  await approve(client, approval);
  const done = await published(client, run.id);
  expect(done.publication.published).toMatchObject({ files_written: 1, left_out: [pipe] });
});
