import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

const run = promisify(execFile);
let api: TestApi;
let worker: TestWorker;
let source: string;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());
beforeEach(async () => {
  source = await mkdtemp(join(tmpdir(), 'hp-source-'));
  await writeFile(join(source, 'kept.txt'), 'one\ntwo\nthree\n');
});
afterEach(() => rm(source, { recursive: true, force: true }));

const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });

/** A run that succeeded: it changed a file and then made another. */
async function endedRun(from: 'directory' | 'empty' = 'directory'): Promise<string> {
  const groups = [{ steps: [write('kept.txt', 'one\n2\nthree\n')] }, { steps: [write('made.txt', 'new\n')] }];
  const workspace = {
    source: from === 'empty' ? ({ type: 'empty' } as const) : ({ type: from, path: source } as const),
  };
  const { id } = (await api.client.createRun({ plan: { groups }, workspace, title: 'Two files' })).run;
  await worker.drive(id);
  return id;
}

describe('a diff', () => {
  test('shows the whole change set, file by file', async () => {
    const id = await endedRun();
    const { workspace } = await api.client.getRun(id);
    expect(await api.client.diff(id)).toMatchObject({
      run_id: id,
      from: workspace.base,
      to: workspace.snapshot,
      additions: 2,
      deletions: 1,
      files: [
        { path: 'kept.txt', status: 'modified', hunks: [{ lines: [' one', '-two', '+2', ' three'] }] },
        { path: 'made.txt', status: 'added', additions: 1 },
      ],
    });
  });

  test('may be of one path, or between two snapshots of the run', async () => {
    const id = await endedRun();
    const files = async (query: object) => (await api.client.diff(id, query)).files.map(({ path }) => path);
    expect(await files({ path: 'made.txt' })).toEqual(['made.txt']);
    const [first] = (await api.client.listSteps(id)).data;
    expect(await files({ from: first?.snapshot ?? '' })).toEqual(['made.txt']);
    expect(await files({ to: first?.snapshot ?? '' })).toEqual(['kept.txt']);
  });

  test('names the first snapshot and the current one, and is the same without lines', async () => {
    const id = await endedRun();
    const { workspace } = await api.client.getRun(id);
    const whole = await api.client.diff(id);
    expect(await api.client.diff(id, { from: 'source', to: 'current' })).toEqual(whole);
    const back = await api.client.diffStat(id, { from: 'current', to: 'source' });
    expect(back).toMatchObject({ from: workspace.snapshot, to: workspace.base, additions: 1, deletions: 2 });
    const files = whole.files.map(({ hunks: _, ...file }) => file);
    expect(await api.client.diffStat(id)).toEqual({ ...whole, files });
    expect((await api.client.diffStat(id, { path: 'made.txt' })).files).toEqual(files.slice(1));
    const both = await problemOf(await api.send(`/v1/runs/${id}/diff?format=patch&stat=true`));
    expect(both).toMatchObject({ status: 422, code: 'invalid_request', errors: [{ pointer: 'stat' }] });
  });

  test('as a patch is what git apply takes', async () => {
    const id = await endedRun();
    const response = await api.send(`/v1/runs/${id}/diff?format=patch`);
    expect(response.headers.get('content-type')).toBe('text/x-patch; charset=utf-8');
    const patch = await api.client.patch(id);
    expect(patch).toBe(await response.text());
    await writeFile(join(source, 'change.patch'), patch);
    await run('git', ['apply', 'change.patch'], { cwd: source });
    expect(await readFile(join(source, 'kept.txt'), 'utf8')).toBe('one\n2\nthree\n');
    expect(await readFile(join(source, 'made.txt'), 'utf8')).toBe('new\n');
  });

  test('before there is a workspace is refused', async () => {
    const { id } = (await api.client.createRun({ plan: { groups: [{ steps: [write('a', 'a')] }] } })).run;
    await expect(api.client.diff(id)).rejects.toMatchObject({ code: 'workspace_not_ready', status: 409 });
  });

  test.each(['from', 'to'])('with a snapshot of another run as %s is refused', async (name) => {
    const id = await endedRun();
    const { workspace } = await api.client.getRun(await endedRun('empty'));
    for (const snapshot of [workspace.snapshot ?? '', 'f'.repeat(40), 'HEAD', '--output=x', '../../etc']) {
      await expect(api.client.diff(id, { [name]: snapshot })).rejects.toMatchObject({
        code: 'snapshot_not_found',
        status: 404,
        errors: [{ pointer: name }],
      });
    }
  });

  test('of a path outside of the workspace is refused', async () => {
    const id = await endedRun();
    for (const path of ['../../etc/passwd', '/etc/passwd', 'a/../../b']) {
      await expect(api.client.diff(id, { path })).rejects.toMatchObject({
        code: 'invalid_request',
        status: 422,
        errors: [{ pointer: 'path' }],
      });
    }
    for (const path of [':(exclude)made.txt', ':/', '*', 'nothing.txt']) {
      expect((await api.client.diff(id, { path })).files).toEqual([]);
    }
  });
});

describe('to publish', () => {
  test('brings the change set to the source, and answers when a worker has done it', async () => {
    const id = await endedRun();
    const answer = api.client.publish(id);
    await vi.waitFor(async () => expect((await api.client.getRun(id)).publication.status).toBe('requested'));
    expect(await readFile(join(source, 'kept.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    await worker.tend(id);
    expect(await answer).toMatchObject({ status: 'published', published: { type: 'directory', files_written: 2 } });
    expect(await readFile(join(source, 'kept.txt'), 'utf8')).toBe('one\n2\nthree\n');
    expect(await api.client.publish(id)).toEqual(await answer);
  });

  test('is 202 while no worker has done it, and may be asked again', async () => {
    const hasty = await startTestApi({ publicationWaitMs: 1 });
    try {
      const driver = testWorker(hasty.engine, hasty.dataDir);
      const workspace = { source: { type: 'directory' as const, path: source } };
      const plan = { groups: [{ steps: [write('made.txt', 'new\n')] }] };
      const { id } = (await hasty.client.createRun({ plan, workspace })).run;
      await driver.drive(id);
      const response = await hasty.post(`/v1/runs/${id}/publish`, { message: 'Two files' });
      expect([response.status, await response.json()]).toMatchObject([202, { status: 'requested', published: null }]);
      await driver.tend(id);
      expect((await hasty.client.publish(id)).status).toBe('published');
    } finally {
      await hasty.stop();
    }
  });

  test('a snapshot other than the reviewed snapshot is refused, and so is a run in progress', async () => {
    const id = await endedRun();
    const { workspace } = await api.client.getRun(id);
    const { id: queued } = (await api.client.createRun({ plan: { groups: [{ steps: [write('a', 'a')] }] } })).run;
    const before = await contentOf(api.engine);
    const reviewed = { snapshot: workspace.base ?? '' };
    await expect(api.client.publish(id, reviewed)).rejects.toMatchObject({ code: 'snapshot_changed', status: 409 });
    await expect(api.client.publish(queued)).rejects.toMatchObject({ code: 'run_not_finished', status: 409 });
    expect(await contentOf(api.engine)).toEqual(before);
  });
});

describe('to discard', () => {
  test('removes the workspace, and what was in it is gone', async () => {
    const id = await endedRun();
    const answer = api.client.discard(id);
    await vi.waitFor(async () => expect((await api.client.getRun(id)).publication.status).toBe('discarding'));
    await worker.tend(id);
    expect((await answer).status).toBe('discarded');
    await expect(api.client.diff(id)).rejects.toMatchObject({ code: 'workspace_gone', status: 410 });
    await expect(api.client.publish(id)).rejects.toMatchObject({ code: 'publication_closed', status: 409 });
  });
});
