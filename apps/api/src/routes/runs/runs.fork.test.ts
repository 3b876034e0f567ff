import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateRun, Run, Step } from '@holdpoint/contract/wire';
import { readRun, readSpec } from '@holdpoint/engine/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
let source: string;
beforeAll(async () => {
  api = await startTestApi({
    models: { ollama: {}, known: { 'ollama/tiny': { window: 2000 } } },
    publicationWaitMs: 2000,
  });
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());
beforeEach(async () => {
  source = await mkdtemp(join(tmpdir(), 'hp-source-'));
  await writeFile(join(source, 'kept.txt'), 'kept\n');
});
afterEach(() => rm(source, { recursive: true, force: true }));

const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });
/** One file after the other. */
const three = [{ steps: [write('a', '1\n')] }, { steps: [write('b', '2\n')] }, { steps: [write('c', '3\n')] }];
const fourth = { steps: [write('d', '4\n')] };
const holding = (path: string) => ({ ...write(path, 'held\n'), tool: 'bash', args: { command: path } });
const hold = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };

async function submit(body: Partial<CreateRun> = {}): Promise<string> {
  const workspace = { source: { type: 'directory', path: source } } as const;
  const { id } = (await api.client.createRun({ plan: { groups: three }, workspace, ...body })).run;
  await worker.drive(id);
  return id;
}
const stepsOf = async (id: string): Promise<Step[]> => (await api.client.listSteps(id)).data;
const pathsOf = async (id: string) => (await api.client.diff(id)).files.map(({ path }) => path);
const treeHas = async (id: string, path: string) =>
  worker.workspaces
    .locate({ runId: id, epoch: (await readRun(api.engine.redis, id))?.lease ?? 0 })
    .then((place) => readFile(join(place.path, path)))
    .then(
      () => true,
      () => false,
    );

describe('a run is paused', () => {
  test('by hand, repeatedly, and continues when it is resumed', async () => {
    const { id } = (await api.client.createRun({ plan: { groups: three } })).run;
    await worker.plan(id);
    expect(await api.client.pauseRun(id)).toMatchObject({ status: 'paused', reason: { code: 'paused_by_hand' } });
    const before = await contentOf(api.engine);
    expect((await api.client.pauseRun(id)).status).toBe('paused');
    expect(await contentOf(api.engine)).toEqual(before);
    await worker.execute(id);
    expect((await stepsOf(id)).map(({ status }) => status)).toEqual(['queued']);
    await api.client.resumeRun(id);
    await worker.drive(id);
    expect((await api.client.getRun(id)).status).toBe('succeeded');
  });

  test('but not when it has ended', async () => {
    const id = await submit();
    const before = await contentOf(api.engine);
    await expect(api.client.pauseRun(id)).rejects.toMatchObject({ code: 'run_not_active', status: 409 });
    expect(await contentOf(api.engine)).toEqual(before);
  });
});

describe('to undo', () => {
  /** A run with three files that is paused while its fourth step waits for a decision. */
  async function paused(): Promise<string> {
    const id = await submit({ plan: { groups: [...three, { steps: [holding('x')] }] }, policy: hold });
    await api.client.pauseRun(id);
    return id;
  }

  test('takes the last steps back, and the run continues from there', async () => {
    const id = await paused();
    const [first, second, third, held] = await stepsOf(id);
    const answer = api.client.undoSteps(id, { to_step: 1 });
    await vi.waitFor(async () => expect((await readRun(api.engine.redis, id))?.restore).toBe('due'));
    expect(await treeHas(id, 'c')).toBe(true);
    await worker.tend(id);
    expect(await answer).toMatchObject({ run: { status: 'paused' }, restored: true });
    expect((await answer).undone).toEqual([second?.id, third?.id, held?.id]);
    expect([await treeHas(id, 'a'), await treeHas(id, 'b'), await treeHas(id, 'c')]).toEqual([true, false, false]);
    expect((await stepsOf(id)).map(({ number, status }) => [number, status])).toEqual([
      [1, 'succeeded'],
      [null, 'undone'],
      [null, 'undone'],
      [null, 'undone'],
    ]);
    expect((await api.client.listApprovals({ run_id: id })).data).toEqual([]);
    expect((await api.client.listSnapshots(id)).data.map(({ step, current }) => [step?.number, current])).toEqual([
      [undefined, false],
      [1, true],
      [null, false],
      [null, false],
    ]);
    expect((await api.client.undoSteps(id, { to_step: first?.id ?? '' })).undone).toEqual([]);

    await api.client.resumeRun(id);
    await worker.drive(id);
    expect(await pathsOf(id)).toEqual(['a', 'b', 'c']);
    expect((await stepsOf(id)).map(({ tool, number }) => [tool, number])).toEqual([
      ['write_file', 1],
      ['write_file', null],
      ['write_file', 2],
      ['write_file', null],
      ['write_file', 3],
      ['bash', null],
      ['bash', 4],
    ]);
  });

  test('is 202 while no worker has brought the files back', async () => {
    const other = await startTestApi({ publicationWaitMs: 1 });
    try {
      const { id } = (await other.client.createRun({ plan: { groups: three } })).run;
      const driver = testWorker(other.engine, other.dataDir);
      await driver.plan(id);
      await driver.execute(id);
      await other.client.pauseRun(id);
      const response = await other.post(`/v1/runs/${id}/undo`, { to_step: 0 });
      expect([response.status, await response.json()]).toMatchObject([
        202,
        // With the first one's outcome the second was begun.
        { restored: false, undone: [expect.any(String), expect.any(String)] },
      ]);
    } finally {
      await other.stop();
    }
  });

  const cases: [string, object, number, string, string?][] = [
    ['to no step', {}, 422, 'invalid_request', '/to_step'],
    ['to a step before the first', { to_step: -1 }, 422, 'invalid_request', '/to_step'],
    ['to a step there is not', { to_step: 5 }, 404, 'step_not_found', '/to_step'],
    ['to an unknown step', { to_step: 'step_x' }, 404, 'step_not_found', '/to_step'],
    ['to a step that waits', { to_step: 4 }, 409, 'step_not_settled', '/to_step'],
  ];
  test.each(cases)('%s is refused, and changes nothing', async (_name, body, status, code, pointer) => {
    const id = await paused();
    const before = await contentOf(api.engine);
    const problem = await problemOf(await api.post(`/v1/runs/${id}/undo`, body));
    expect(problem).toMatchObject({ status, code });
    expect(problem.errors?.map((error) => error.pointer)).toEqual(pointer === undefined ? undefined : [pointer]);
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('in a run that is not paused is refused', async () => {
    const id = await submit();
    const before = await contentOf(api.engine);
    await expect(api.client.undoSteps(id, { to_step: 0 })).rejects.toMatchObject({
      code: 'run_not_paused',
      status: 409,
    });
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('effects outside of the workspace is only done when they may stay', async () => {
    const web = { tool: 'web_fetch', args: { url: 'https://example.org/' } };
    const policy = {
      rules: [
        { match: { tool: 'web_fetch' }, action: 'hold' as const },
        { match: {}, action: 'allow' as const },
      ],
    };
    // A command that has a network may change anything.
    const groups = [{ on_error: 'continue' as const, steps: [holding('x')] }, { steps: [web] }];
    const id = await submit({ plan: { groups }, policy, network: { allow: ['example.org'] } });
    const [first] = await stepsOf(id);
    expect(first?.effect).toBe('external');
    await api.client.pauseRun(id);
    const before = await contentOf(api.engine);
    await expect(api.client.undoSteps(id, { to_step: 0 })).rejects.toMatchObject({
      code: 'external_effects',
      status: 409,
      errors: [{ pointer: '/keep_external_effects' }],
    });
    expect(await contentOf(api.engine)).toEqual(before);
    const answer = api.client.undoSteps(id, { to_step: 0, keep_external_effects: true });
    await vi.waitFor(async () => expect((await readRun(api.engine.redis, id))?.restore).toBe('due'));
    await worker.tend(id);
    expect((await answer).undone).toContain(first?.id);
  });
});

describe('a fork', () => {
  test('continues after a step with the files of then; the other run is unchanged', async () => {
    const id = await submit({ title: 'Three files', labels: { team: 'x' } });
    const [, second] = await stepsOf(id);
    const before = await api.client.getRun(id);
    const response = await api.post(`/v1/runs/${id}/fork`, { from_step: 2, labels: { try: '2' } });
    const fork = (await response.json()) as Run;
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(`/v1/runs/${fork.id}`);
    expect(fork).toMatchObject({
      status: 'queued',
      turn: 2,
      title: 'Three files',
      labels: { try: '2' },
      forked_from: { run_id: id, step_id: second?.id },
    });
    await worker.drive(fork.id);
    expect(await api.client.getRun(fork.id)).toMatchObject({
      status: 'succeeded',
      workspace: { base: before.workspace.base },
    });
    expect(await pathsOf(fork.id)).toEqual(['a', 'b', 'c']);
    expect((await stepsOf(fork.id)).map(({ number, turn }) => [number, turn])).toEqual([[1, 3]]);
    expect(await api.client.getRun(id)).toEqual({ ...before, seq: before.seq + 1 });
    const [begins] = (await api.client.listSnapshots(fork.id)).data;
    expect(begins).toMatchObject({ id: second?.snapshot, parent: null, step: null });
    // The base is the other run's, and may be compared with; its later snapshots may not.
    const { from } = await api.client.diff(fork.id, { from: before.workspace.base ?? '' });
    expect(from).toBe(before.workspace.base);
    await expect(api.client.diff(fork.id, { to: before.workspace.snapshot ?? '' })).rejects.toMatchObject({
      code: 'snapshot_not_found',
    });
  });

  test('may be given another end of the plan, other validators and another policy', async () => {
    const id = await submit();
    const [first] = await stepsOf(id);
    const validators = [{ command: 'true' }];
    const { run } = await api.client.forkRun(id, {
      from_step: first?.id ?? '',
      title: 'Otherwise',
      plan: { groups: [...three.slice(0, 1), fourth] },
      policy: { publish: 'hold' },
      validators,
    });
    await worker.drive(run.id);
    expect(await pathsOf(run.id)).toEqual(['a', 'd']);
    expect(await api.client.getRun(run.id)).toMatchObject({
      title: 'Otherwise',
      request: { policy: { publish: 'hold' }, validators: [{ command: 'true', timeout_s: 600 }] },
    });
  });

  test('is published to where the other run came from', async () => {
    const id = await submit();
    const { run } = await api.client.forkRun(id, { from_step: 1, plan: { groups: [...three.slice(0, 1), fourth] } });
    await worker.drive(run.id);
    const answer = api.client.publish(run.id);
    await vi.waitFor(async () => expect((await api.client.getRun(run.id)).publication.status).toBe('requested'));
    await worker.tend(run.id);
    expect((await answer).status).toBe('published');
    expect(await readFile(join(source, 'd'), 'utf8')).toBe('4\n');
  });

  test('of a run with a prompt takes another model', async () => {
    const id = await asked();
    const { run } = await api.client.forkRun(id, { from_step: 0, model: 'ollama/other' });
    expect(run).toMatchObject({ planner: 'model', model: 'ollama/other' });
    const state = await readRun(api.engine.redis, run.id);
    expect(state && (await readSpec(api.engine, state)).goal).toMatchObject({ prompt: 'Write', model: 'ollama/other' });
  });

  test('with an Idempotency-Key is made once', async () => {
    const id = await submit();
    const body = { from_step: 1, title: 'Once' };
    const made = await Promise.all(
      Array.from({ length: 4 }, () => api.client.forkRun(id, body, { idempotencyKey: 'fork once' })),
    );
    expect(new Set(made.map(({ run }) => run.id)).size).toBe(1);
    const before = await contentOf(api.engine);
    expect((await api.client.forkRun(id, body, { idempotencyKey: 'fork once' })).created).toBe(false);
    await expect(
      api.client.forkRun(id, { ...body, title: 'Else' }, { idempotencyKey: 'fork once' }),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    const other = await submit();
    await expect(api.client.forkRun(other, body, { idempotencyKey: 'fork once' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(Object.keys(await contentOf(api.engine)).filter((key) => key.includes(id))).toEqual(
      Object.keys(before).filter((key) => key.includes(id)),
    );
  });

  test('keeps the other workspace from being discarded until it has its own', async () => {
    const id = await submit();
    const { run } = await api.client.forkRun(id, { from_step: 1 });
    await expect(api.client.discard(id)).rejects.toMatchObject({ code: 'fork_pending', status: 409 });
    await worker.plan(run.id);
    const answer = api.client.discard(id);
    await vi.waitFor(async () => expect((await api.client.getRun(id)).publication.status).toBe('discarding'));
    await worker.tend(id);
    expect((await answer).status).toBe('discarded');
    await worker.drive(run.id);
    expect(await pathsOf(run.id)).toEqual(['a', 'b', 'c']);
    await expect(api.client.forkRun(id, { from_step: 1 })).rejects.toMatchObject({
      code: 'workspace_discarded',
      status: 410,
    });
  });

  /** A run with a prompt whose workspace is there. The planner of these tests does not ask a model. */
  async function asked(): Promise<string> {
    const { id } = (await api.client.createRun({ prompt: 'Write', model: 'ollama/any' })).run;
    await worker.plan(id).catch(() => undefined);
    return id;
  }

  const kinds = new Map<() => Promise<string>, string>();
  const cases: [string, () => Promise<string>, object, number, string, string][] = [
    ['without a step', submit, {}, 422, 'invalid_request', '/from_step'],
    ['at a step there is not', submit, { from_step: 4 }, 404, 'step_not_found', '/from_step'],
    ['at a step of another run', submit, { from_step: 'step_x' }, 404, 'step_not_found', '/from_step'],
    [
      'at a step that waits',
      () => submit({ plan: { groups: [{ steps: [holding('x')] }] }, policy: hold }),
      { from_step: 1 },
      409,
      'step_not_settled',
      '/from_step',
    ],
    ['with another beginning', submit, { from_step: 1, plan: { groups: [fourth] } }, 422, 'invalid_fork', '/plan'],
    [
      'with a tool there is not',
      submit,
      { from_step: 1, plan: { groups: [...three, { steps: [{ tool: 'nope' }] }] } },
      422,
      'invalid_plan',
      '/plan/groups/3/steps/0/tool',
    ],
    ['of a plan, with a model', submit, { from_step: 1, model: 'ollama/x' }, 422, 'invalid_fork', '/model'],
    ['of a prompt, with a plan', asked, { from_step: 0, plan: { groups: three } }, 422, 'invalid_fork', '/plan'],
    [
      'with a model too small for its tools',
      asked,
      { from_step: 0, model: 'ollama/tiny' },
      422,
      'window_too_small',
      '/toolset',
    ],
    ['with an unknown model', asked, { from_step: 0, model: 'nope' }, 422, 'invalid_model_name', '/model'],
    [
      'with both',
      asked,
      { from_step: 0, model: 'ollama/x', plan: { groups: three } },
      422,
      'invalid_request',
      '/model',
    ],
    [
      'with a policy that is none',
      submit,
      { from_step: 1, policy: { publish: 'x' } },
      422,
      'invalid_request',
      '/policy/publish',
    ],
    ['with another source', submit, { from_step: 1, workspace: {} }, 422, 'invalid_request', '/workspace'],
  ];
  test.each(cases)('%s is refused, and nothing is made', async (_name, make, body, status, code, pointer) => {
    // Refusals change nothing, so that one run of a kind serves them all.
    const id = await (kinds.get(make) ?? make());
    kinds.set(make, id);
    const before = await contentOf(api.engine);
    const response = await api.post(`/v1/runs/${id}/fork`, body, { 'idempotency-key': 'never kept' });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status, code });
    expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('before there is a workspace is refused', async () => {
    const { id } = (await api.client.createRun({ plan: { groups: three } })).run;
    const before = await contentOf(api.engine);
    await expect(api.client.forkRun(id, { from_step: 0 })).rejects.toMatchObject({
      code: 'workspace_not_ready',
      status: 409,
    });
    expect(await contentOf(api.engine)).toEqual(before);
  });
});
