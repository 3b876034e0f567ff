import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

const run = promisify(execFile);
let api: TestApi;
let worker: TestWorker;
let root: string;
let id: string;
const binary = Buffer.from([0, 1, 2, 253, 254, 255]);
const hostile = 'sub/ü"\r\n x.txt';

beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
  root = await mkdtemp(join(tmpdir(), 'hp-source-'));
  const path = join(root, 'source');
  await mkdir(join(path, 'sub'), { recursive: true });
  await writeFile(join(path, 'kept.txt'), 'kept\n');
  await writeFile(join(path, 'run.sh'), '#!/bin/sh\n');
  await chmod(join(path, 'run.sh'), 0o755);
  await writeFile(join(path, 'sub/bytes'), binary);
  await writeFile(join(path, hostile), 'odd\n');
  await symlink('kept.txt', join(path, 'link'));
  const groups = [
    { steps: [write('kept.txt', 'changed\n')] },
    { steps: [write('kept.txt', 'changed\n')] },
    { steps: [write('sub/made.txt', 'made\n')] },
  ];
  const workspace = { source: { type: 'directory', path } } as const;
  id = (await api.client.createRun({ plan: { groups }, workspace })).run.id;
  await worker.drive(id);
});
afterAll(async () => {
  await api.stop();
  await rm(root, { recursive: true, force: true });
});

const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });
async function whole(bytes: Promise<AsyncIterable<Uint8Array>>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}
const text = async (path: string, snapshot?: string) =>
  (await whole(api.client.readFile(id, { path, snapshot }))).toString();

describe('snapshots', () => {
  test('are listed with the steps that left them; the last that is in force is current', async () => {
    const steps = (await api.client.listSteps(id)).data;
    const { workspace } = await api.client.getRun(id);
    const [began, first, same, last] = (await api.client.listSnapshots(id)).data;
    expect(began).toMatchObject({ id: workspace.base, parent: null, step: null, files_changed: 4, current: false });
    expect(first).toMatchObject({
      id: steps[0]?.snapshot,
      parent: began?.id,
      step: { id: steps[0]?.id, number: 1, tool: 'write_file' },
      files_changed: 1,
    });
    // A step that changed nothing leaves what was there.
    expect(same).toMatchObject({ id: first?.id, step: { number: 2 }, files_changed: 0, current: false });
    expect(last).toMatchObject({ id: workspace.snapshot, parent: first?.id, step: { number: 3 }, current: true });
  });

  test('are listed page by page, from both ends', async () => {
    const { data: all } = await api.client.listSnapshots(id);
    for (const order of ['asc', 'desc'] as const) {
      const first = await api.client.listSnapshots(id, { order, limit: 3 });
      const second = await api.client.listSnapshots(id, { order, limit: 3, cursor: first.next_cursor ?? '' });
      expect([...first.data, ...second.data]).toEqual(order === 'asc' ? all : all.toReversed());
      expect([first.has_more, second.has_more, second.next_cursor]).toEqual([true, false, null]);
    }
    const problem = await problemOf(await api.send(`/v1/runs/${id}/snapshots?cursor=x`));
    expect(problem).toMatchObject({ code: 'invalid_request', status: 422, errors: [{ pointer: 'cursor' }] });
  });

  test('of steps that changed nothing are one; it is current after the last of them', async () => {
    const groups = [{ steps: [write('a', 'a')] }, { steps: [write('a', 'a')] }];
    const { run: same } = await api.client.createRun({ plan: { groups } });
    await worker.drive(same.id);
    const snapshots = (await api.client.listSnapshots(same.id)).data;
    expect(snapshots.map(({ current }) => current)).toEqual([false, false, true]);
    expect(snapshots[2]?.id).toBe(snapshots[1]?.id);
  });

  test('of a background command are listed, marked current, and found by id and by step', async () => {
    const begin = { tool: 'bash', args: { command: 'echo late > late.txt', run_in_background: true } };
    const groups = [{ steps: [begin] }, { steps: [write('a', 'a')] }, { steps: [write('b', 'b')] }];
    const hold = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
    const { run: made } = await api.client.createRun({ plan: { groups }, policy: hold });
    await worker.drive(made.id);
    await worker.background(made.id);
    const snapshots = (await api.client.listSnapshots(made.id)).data;
    const [task] = await api.client.listTasks(made.id);
    const captured = snapshots.find(({ task_id }) => task_id !== null);
    expect(captured).toMatchObject({ task_id: task?.id, step: null, undone: false, current: true, files_changed: 1 });
    expect((await api.client.getRun(made.id)).workspace.snapshot).toBe(captured?.id);
    const approve = async () => {
      const [approval] = (await api.client.listApprovals({ run_id: made.id })).data;
      const { id: approvalId, action_digest } = approval ?? { id: '', action_digest: '' };
      await api.client.decideApproval(approvalId, { decision: 'approve', action_digest });
      await worker.drive(made.id);
    };
    await approve();
    const paths = async (snapshot: string) =>
      (await api.client.listFiles(made.id, { snapshot })).map(({ path }) => path);
    // The run has moved on, and the captured snapshot is neither its first nor its current one.
    expect(await paths(captured?.id ?? '')).toEqual(['late.txt']);
    expect(await paths('0')).toEqual([]);
    expect(await paths('1')).toEqual(['late.txt']);
    expect(await paths('2')).toEqual(['a', 'late.txt']);
    const { from, files } = await api.client.diff(made.id, { from: '1' });
    expect([from, files.map(({ path }) => path)]).toEqual([captured?.id, ['a']]);
    await api.client.pauseRun(made.id);
    const undoing = api.client.undoSteps(made.id, { to_step: 1 });
    await expect.poll(async () => (await api.client.getRun(made.id)).workspace.snapshot).toBe(captured?.id);
    await worker.tend(made.id);
    await undoing;
    await expect(api.client.listFiles(made.id, { snapshot: '9' })).rejects.toMatchObject({
      code: 'step_not_found',
      errors: [{ pointer: 'snapshot' }],
    });
  });

  test('are not there before the run has begun, and no more after it was discarded', async () => {
    const { run: queued } = await api.client.createRun({ plan: { groups: [{ steps: [write('a', 'a')] }] } });
    const asks = [
      (run: string) => api.client.listSnapshots(run),
      (run: string) => api.client.listFiles(run),
      (run: string) => api.client.readFile(run, { path: 'a' }),
      (run: string) => api.client.downloadArchive(run),
    ];
    for (const ask of asks) {
      await expect(ask(queued.id)).rejects.toMatchObject({ code: 'workspace_not_ready', status: 409 });
    }
    await worker.drive(queued.id);
    void api.client.discard(queued.id).catch(() => undefined);
    await expect.poll(async () => (await api.client.getRun(queued.id)).publication.status).toBe('discarding');
    await worker.tend(queued.id);
    for (const ask of asks) {
      await expect(ask(queued.id)).rejects.toMatchObject({ code: 'workspace_gone', status: 410 });
    }
  });
});

describe('files', () => {
  test('are listed with their modes and sizes, all of them or those of a folder', async () => {
    const files = await api.client.listFiles(id);
    expect(files.map(({ path, mode, bytes }) => [path, mode, bytes])).toContainEqual(['run.sh', '100755', 10]);
    expect(files.find(({ path }) => path === 'link')).toMatchObject({ mode: '120000' });
    expect(files).toHaveLength(6);
    const [began] = (await api.client.listSnapshots(id)).data;
    const inFolder = await api.client.listFiles(id, { path: 'sub', snapshot: began?.id });
    expect(inFolder.map(({ path }) => path)).toEqual(['sub/bytes', hostile]);
    expect(await api.client.listFiles(id, { path: 'nope' })).toEqual([]);
  });

  test('are read byte for byte, as they were at any snapshot', async () => {
    const [began, first] = (await api.client.listSnapshots(id)).data;
    expect(await text('kept.txt', began?.id)).toBe('kept\n');
    expect(await text('kept.txt', first?.id)).toBe('changed\n');
    expect(await whole(api.client.readFile(id, { path: 'sub/bytes' }))).toEqual(binary);
    expect(await text('link')).toBe('kept.txt');
  });

  test('are answered as what is saved and never shown', async () => {
    const response = await api.send(`/v1/runs/${id}/files/content?path=${encodeURIComponent(hostile)}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '4',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="_____x.txt"; filename*=UTF-8''%C3%BC%22%0D%0A%20x.txt`,
    });
    expect(await response.text()).toBe('odd\n');
  });

  test('that are not there, or not in the workspace, are refused', async () => {
    await expect(api.client.readFile(id, { path: 'nope' })).rejects.toMatchObject({
      code: 'path_not_found',
      status: 404,
      errors: [{ pointer: 'path' }],
    });
    await expect(api.client.readFile(id, { path: 'sub' })).rejects.toMatchObject({ code: 'path_not_found' });
    for (const path of ['../../etc/passwd', '/etc/passwd', '']) {
      const problem = await problemOf(await api.send(`/v1/runs/${id}/files/content?path=${encodeURIComponent(path)}`));
      expect(problem).toMatchObject({ code: 'invalid_request', status: 422, errors: [{ pointer: 'path' }] });
    }
  });
});

describe('an archive', () => {
  async function unpacked(format: 'tar.gz' | 'zip', only: 'all' | 'changed', snapshot?: string): Promise<string> {
    const folder = await mkdtemp(join(root, 'out-'));
    const file = join(folder, `archive.${format}`);
    await writeFile(file, await whole(api.client.downloadArchive(id, { format, only, snapshot })));
    const into = join(folder, 'into');
    await mkdir(into);
    if (format === 'zip') await run('python3', ['-m', 'zipfile', '-e', file, into]);
    else await run('tar', ['-xzf', file, '-C', into]);
    return into;
  }

  test('has every file of the snapshot', async () => {
    const into = await unpacked('tar.gz', 'all');
    expect((await readdir(into)).sort()).toEqual(['kept.txt', 'link', 'run.sh', 'sub']);
    expect(await readFile(join(into, 'sub/bytes'))).toEqual(binary);
    expect(await readFile(join(into, 'link'), 'utf8')).toBe('changed\n');
    const [began] = (await api.client.listSnapshots(id)).data;
    expect(await readFile(join(await unpacked('zip', 'all', began?.id), 'kept.txt'), 'utf8')).toBe('kept\n');
  });

  test('or only what the run added or changed', async () => {
    const into = await unpacked('tar.gz', 'changed');
    expect((await readdir(into, { recursive: true })).sort()).toEqual(['kept.txt', 'sub', 'sub/made.txt']);
    const [began] = (await api.client.listSnapshots(id)).data;
    expect(await readdir(await unpacked('tar.gz', 'changed', began?.id))).toEqual([]);
  });

  test('comes with its name', async () => {
    const response = await api.send(`/v1/runs/${id}/archive?only=changed&format=zip`);
    expect(response.headers.get('content-type')).toBe('application/zip');
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${id}-changed.zip"`);
    expect((await response.bytes()).subarray(0, 2)).toEqual(new Uint8Array(Buffer.from('PK')));
  });

  test('that is not read to its end does not harm the server', async () => {
    for await (const chunk of await api.client.downloadArchive(id)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect((await api.client.listFiles(id)).length).toBe(6);
  });
});

test.each(['files', 'files/content', 'archive'])('%s of a snapshot of another run is refused', async (what) => {
  const before = await contentOf(api.engine);
  for (const snapshot of ['f'.repeat(40), 'HEAD', '--output=x']) {
    const query = new URLSearchParams({ snapshot, ...(what === 'files/content' ? { path: 'kept.txt' } : {}) });
    const problem = await problemOf(await api.send(`/v1/runs/${id}/${what}?${query}`));
    expect(problem).toMatchObject({ code: 'snapshot_not_found', status: 404, errors: [{ pointer: 'snapshot' }] });
  }
  expect(await contentOf(api.engine)).toEqual(before);
});
