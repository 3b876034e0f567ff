import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateRun } from '@holdpoint/contract/wire';
import { readLog } from '@holdpoint/engine/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
let outside: string;
beforeAll(async () => {
  api = await startTestApi({ models: { openai: { apiKey: undefined }, ollama: {} } });
  worker = testWorker(api.engine, api.dataDir);
  outside = await mkdtemp(join(tmpdir(), 'hp-source-'));
});
afterAll(async () => {
  await api.stop();
  await rm(outside, { recursive: true, force: true });
});

const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
type Step = NonNullable<CreateRun['plan']>['groups'][number]['steps'][number];

/** A repository with one commit, whose work tree is sparse. */
function sparseCheckout(path: string): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args]);
  git('init', '-q', path);
  git('-C', path, 'commit', '-q', '--allow-empty', '-m', 'one');
  git('-C', path, 'sparse-checkout', 'set', 'src');
  return path;
}
/** A directory with a folder, and a link to another place. */
function foldersOf(path: string, ...folders: string[]) {
  mkdirSync(join(path, 'node_modules'), { recursive: true });
  symlinkSync('/etc', join(path, 'link'));
  return { type: 'directory' as const, path, with: folders };
}
const plan = (...steps: Step[]) => ({ plan: { groups: [{ steps }] } });

describe('a run that is submitted', () => {
  test('answers 201 with its address, is in the log, and has a wake-up', async () => {
    const response = await api.post('/v1/runs', { ...plan(write), title: 'One file', labels: { team: 'x' } });
    expect(response.status).toBe(201);
    const run = (await response.json()) as { id: string };
    expect(response.headers.get('location')).toBe(`/v1/runs/${run.id}`);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(run).toMatchObject({ title: 'One file', status: 'queued', seq: 1, labels: { team: 'x' }, ended_at: null });
    expect((await readLog(api.engine.redis, run.id)).map(({ type }) => type)).toEqual(['run.created']);
    expect(await api.engine.queues.turns.getJob(`turn-${run.id}-1`)).toBeDefined();
  });

  test('is read back with every default that was filled in', async () => {
    const { run } = await api.client.createRun(plan(write));
    expect(await api.client.getRun(run.id)).toEqual({
      ...run,
      output: null,
      waiting_for: [],
      request: {
        ...{
          prompt: null,
          system: null,
          instructions: false,
          images: 0,
          fallbacks: [],
          options: {},
          output_schema: null,
          outside_agent: null,
          prepare: null,
        },
        agent: null,
        agents: [],
        tools: null,
        source: { type: 'empty' },
        policy: { rules: [], publish: 'allow', approval_timeout_s: 604_800 },
        network: { allow: [] },
        policy_pin: null,
        permissions: null,
        protected: [],
        modes: { read_only: false, dry_run: false, deterministic: false },
        settings: { editing: 'auto' },
        secrets: [],
        operator_policies: [],
        limits: {
          ...{ max_turns: 200, step_wall_s: 600, loop_after: 5, idle_s: 86_400, model_patience_s: 86_400 },
          ...{ max_tasks: 8, max_agents: 64, max_depth: 2, task_wall_s: 3600 },
        },
        models: [],
        validators: [],
        publish: { include_ignored: false },
      },
    });
  });

  test('with a prompt takes the model it names, when nothing is missing for it', async () => {
    const { run } = await api.client.createRun({ prompt: 'Say hello', model: 'ollama/any' });
    expect(run).toMatchObject({ planner: 'model', model: 'ollama/any', title: 'Say hello' });
    expect((await api.client.getRun(run.id)).request.prompt).toBe('Say hello');
  });

  test('with a source that exists is accepted', async () => {
    const source = { type: 'directory', path: outside } as const;
    const { run } = await api.client.createRun({ ...plan(write), workspace: { source } });
    expect((await api.client.getRun(run.id)).request.source).toEqual(source);
  });

  test('may refer to earlier results, whose type is not known yet', async () => {
    const later = { tool: 'write_file', args: { path: 'b', content: { $from: 'first', pointer: '/content' } } };
    const groups = [{ steps: [{ ...write, name: 'first' }] }, { steps: [later] }];
    expect((await api.client.createRun({ plan: { groups } })).created).toBe(true);
  });
});

describe('an Idempotency-Key', () => {
  test('meets the first run: 200, and nothing new', async () => {
    const first = await api.client.createRun(plan(write), { idempotencyKey: 'same' });
    const before = await contentOf(api.engine);
    const again = await api.client.createRun(plan(write), { idempotencyKey: 'same' });
    expect([first.created, again.created, again.run.id]).toEqual([true, false, first.run.id]);
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('of requests at once makes one run', async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, () => api.client.createRun(plan(write), { idempotencyKey: 'at once' })),
    );
    expect(new Set(all.map(({ run }) => run.id)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
  });

  test('meets the first run although its source is gone since', async () => {
    const path = await mkdtemp(join(outside, 'short-lived-'));
    const request = { ...plan(write), workspace: { source: { type: 'directory' as const, path } } };
    const first = await api.client.createRun(request, { idempotencyKey: 'lost answer' });
    await rm(path, { recursive: true });
    const again = await api.client.createRun(request, { idempotencyKey: 'lost answer' });
    expect([again.created, again.run.id]).toEqual([false, first.run.id]);
  });

  test('with another request is refused', async () => {
    await api.client.createRun(plan(write), { idempotencyKey: 'other' });
    const refusal = api.client.createRun({ ...plan(write), title: 'else' }, { idempotencyKey: 'other' });
    await expect(refusal).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 422 });
  });

  test('of 256 characters is refused', async () => {
    const refusal = api.client.createRun(plan(write), { idempotencyKey: 'k'.repeat(256) });
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_request', errors: [{ pointer: 'Idempotency-Key' }] });
  });
});

describe('a bad request is refused by its place, and changes nothing', () => {
  const missing = { type: 'directory', path: '/there/is/no/such/place' };
  const allowing = (rule: string) => ({ ...plan(write), network: { allow: ['registry.example:443', rule] } });
  const cases: [string, () => unknown, string, string][] = [
    ['neither prompt nor plan', () => ({}), 'invalid_request', ''],
    ['prompt and plan', () => ({ ...plan(write), prompt: 'x' }), 'invalid_request', '/plan'],
    ['a model without a prompt', () => ({ ...plan(write), model: 'ollama/x' }), 'invalid_request', '/model'],
    ['an unknown field', () => ({ ...plan(write), worksapce: {} }), 'invalid_request', '/worksapce'],
    ['an empty plan', () => ({ plan: { groups: [] } }), 'invalid_request', '/plan/groups'],
    [
      'a label that is too long',
      () => ({ ...plan(write), labels: { a: 'x'.repeat(256) } }),
      'invalid_request',
      '/labels/a',
    ],
    [
      'a limit out of range',
      () => ({ ...plan(write), limits: { max_turns: 0 } }),
      'invalid_request',
      '/limits/max_turns',
    ],
    [
      'a policy with an unknown action',
      () => ({ ...plan(write), policy: { rules: [{ match: {}, action: 'ask' }] } }),
      'invalid_request',
      '/policy/rules/0/action',
    ],
    ['a network rule that is a URL', () => allowing('https://a.example/x'), 'invalid_network', '/network/allow/1'],
    ['a network rule for an address', () => allowing('169.254.169.254'), 'invalid_network', '/network/allow/1'],
    ['a network rule for everything', () => allowing('*:443'), 'invalid_network', '/network/allow/1'],
    ['an unknown toolset', () => ({ ...plan(write), toolset: 'nope' }), 'unknown_toolset', '/toolset'],
    ['an unknown setting', () => ({ ...plan(write), settings: { 'a/b': 1 } }), 'invalid_settings', '/settings/a~1b'],
    ['settings that are a list', () => ({ ...plan(write), settings: [1] }), 'invalid_request', '/settings'],
    ['an unknown tool', () => plan(write, { tool: 'wirte_file' }), 'invalid_plan', '/plan/groups/0/steps/1/tool'],
    [
      'an argument of the wrong type',
      () => plan(write, { tool: 'write_file', args: { path: 7, content: 'x' } }),
      'invalid_plan',
      '/plan/groups/0/steps/1/args/path',
    ],
    [
      'an unknown argument',
      () => plan({ ...write, args: { ...write.args, 'a/b': 1 } }),
      'invalid_plan',
      '/plan/groups/0/steps/0/args/a~1b',
    ],
    [
      'a reference to nothing',
      () => plan({ tool: 'write_file', args: { path: { $from: 'ghost' }, content: '' } }),
      'invalid_request',
      '/plan/groups/0/steps/0/args',
    ],
    [
      'a source of no known type',
      () => ({ ...plan(write), workspace: { source: { type: 'ftp' } } }),
      'invalid_request',
      '/workspace/source/type',
    ],
    [
      'a source that is missing',
      () => ({ ...plan(write), workspace: { source: missing } }),
      'source_missing',
      '/workspace/source/path',
    ],
    [
      'a source that is a file',
      () => ({ ...plan(write), workspace: { source: { type: 'directory', path: join(outside, 'file') } } }),
      'source_not_directory',
      '/workspace/source/path',
    ],
    [
      'a source inside the data directory',
      () => ({ ...plan(write), workspace: { source: { type: 'directory', path: join(api.dataDir, 'inside') } } }),
      'source_in_data_directory',
      '/workspace/source/path',
    ],
    [
      'a directory that is no repository',
      () => ({ ...plan(write), workspace: { source: { type: 'git', path: outside } } }),
      'source_not_git',
      '/workspace/source/path',
    ],
    [
      'a sparse checkout',
      () => ({ ...plan(write), workspace: { source: { type: 'git', path: sparseCheckout(join(outside, 'sparse')) } } }),
      'source_sparse',
      '/workspace/source/path',
    ],
    [
      'a folder of the source that is a link',
      () => ({ ...plan(write), workspace: { source: foldersOf(join(outside, 'folders'), 'node_modules', 'link') } }),
      'source_folder',
      '/workspace/source/with/1',
    ],
    [
      'a folder outside the source',
      () => ({ ...plan(write), workspace: { source: foldersOf(join(outside, 'escaping'), '../node_modules') } }),
      'invalid_request',
      '/workspace/source/with/0',
    ],
    ['a prompt without any model', () => ({ prompt: 'x' }), 'model_not_configured', '/model'],
    [
      'a prompt for a model without its key',
      () => ({ prompt: 'x', model: 'openai/gpt' }),
      'model_not_configured',
      '/model',
    ],
    ['a model of no provider', () => ({ prompt: 'x', model: 'gpt' }), 'invalid_model_name', '/model'],
  ];

  test.each(cases)('%s', async (_name, body, code, pointer) => {
    await writeFile(join(outside, 'file'), '');
    await mkdir(join(api.dataDir, 'inside'), { recursive: true });
    const before = await contentOf(api.engine);
    const problem = await problemOf(await api.post('/v1/runs', body(), { 'idempotency-key': 'never kept' }));
    expect(problem).toMatchObject({ code, status: 422, instance: '/v1/runs' });
    expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('a model that is not configured says what to set', async () => {
    await expect(api.client.createRun({ prompt: 'x' })).rejects.toMatchObject({
      next: expect.stringContaining('HOLDPOINT_MODEL=provider/model'),
    });
    await expect(api.client.createRun({ prompt: 'x', model: 'openai/gpt' })).rejects.toMatchObject({
      next: expect.stringContaining('OPENAI_API_KEY'),
    });
  });
});

describe('a list of runs', () => {
  test('goes page by page, newest first, each run once', async () => {
    const made: string[] = [];
    for (let at = 0; at < 5; at++) {
      made.push((await api.client.createRun({ ...plan(write), labels: { list: 'pages' } })).run.id);
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.client.listRuns({ label: 'list:pages', limit: 2, cursor });
      expect(page.has_more).toBe(page.next_cursor !== null);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(made.reverse());
  });

  test('is filtered by status, label and time', async () => {
    const { run } = await api.client.createRun({ ...plan(write), labels: { url: 'a:b' } });
    await worker.drive(run.id);
    const ids = async (query: object) => (await api.client.listRuns(query)).data.map(({ id }) => id);
    expect(await ids({ status: ['succeeded'] })).toEqual([run.id]);
    expect(await ids({ label: 'url:a:b' })).toEqual([run.id]);
    expect(await ids({ label: 'url:a:c' })).toEqual([]);
    expect(await ids({ created_after: run.created_at })).not.toContain(run.id);
    expect(await ids({ created_after: new Date(Date.parse(run.created_at) - 1).toISOString() })).toContain(run.id);
  });

  test.each(['status=done', 'limit=0', 'limit=x', 'label=team', 'created_after=yesterday', 'page=2'])(
    'refuses ?%s by the name of the parameter',
    async (query) => {
      const problem = await problemOf(await api.send(`/v1/runs?${query}`));
      expect(problem.code).toBe('invalid_request');
      expect(problem.errors?.[0]?.pointer.split('.')[0]).toBe(query.split('=')[0]);
    },
  );
});

describe('steering', () => {
  test('a queued run is canceled, again and again, and then is over', async () => {
    const { run } = await api.client.createRun(plan(write));
    expect((await api.client.cancelRun(run.id, { message: 'never mind' })).status).toBe('canceling');
    expect((await api.client.cancelRun(run.id)).status).toBe('canceling');
    await worker.plan(run.id);
    expect((await api.client.cancelRun(run.id)).status).toBe('canceled');
    const events = (await api.client.listEvents(run.id)).data;
    expect(events.map(({ type }) => type)).toEqual(['run.created', 'run.canceling', 'run.canceled']);
    expect(events[1]).toMatchObject({ data: { by: 'admin', message: 'never mind' } });
  });

  test('without a body is fine', async () => {
    const { run } = await api.client.createRun(plan(write));
    expect((await api.send(`/v1/runs/${run.id}/cancel`, { method: 'POST' })).status).toBe(200);
    expect((await api.post(`/v1/runs/${run.id}/cancel`, '')).status).toBe(200);
  });

  test('an ended run is not canceled, and only a paused run is resumed', async () => {
    const { run } = await api.client.createRun(plan(write));
    await expect(api.client.resumeRun(run.id)).rejects.toMatchObject({ code: 'run_not_paused', status: 409 });
    await worker.drive(run.id);
    await expect(api.client.cancelRun(run.id)).rejects.toMatchObject({ code: 'run_not_active', status: 409 });
  });

  test('a run with a missing source at its begin is paused; resumed with the source back, the run ends', async () => {
    const path = await mkdtemp(join(outside, 'gone-'));
    const source = { type: 'directory' as const, path };
    const { run } = await api.client.createRun({ ...plan(write), workspace: { source } });
    await rm(path, { recursive: true });
    await worker.drive(run.id);
    expect(await api.client.getRun(run.id)).toMatchObject({ status: 'paused', reason: { code: 'ESOURCEMISSING' } });
    await mkdir(path);
    expect(await api.client.resumeRun(run.id)).toMatchObject({ status: 'queued', reason: null });
    await worker.drive(run.id);
    expect((await api.client.getRun(run.id)).status).toBe('succeeded');
  });
});

describe('steps and attempts', () => {
  test('are read with their arguments and results, large ones too', async () => {
    const content = 'x'.repeat(100_000);
    const { run } = await api.client.createRun(plan({ tool: 'write_file', name: 'big', args: { path: 'b', content } }));
    await worker.drive(run.id);
    const page = await api.client.listSteps(run.id);
    const [step] = page.data;
    expect(page).toMatchObject({ has_more: false, next_cursor: null });
    expect(step).toMatchObject({
      name: 'big',
      tool: 'write_file',
      status: 'succeeded',
      attempts: 1,
      effect: 'workspace',
    });
    expect(step?.args).toMatchObject({ sha256: expect.any(String), preview: expect.stringContaining('{"path":"b"') });
    expect(await api.client.getStep(step?.id ?? '')).toMatchObject({
      args: { path: 'b', content },
      result: { bytes: 100_000, content },
      error: null,
    });
    expect(await api.client.listAttempts(step?.id ?? '')).toMatchObject([
      { number: 1, worker: 'test-worker', end: 'succeeded', capabilities: { driver: 'none' }, reason: null },
    ]);
  });

  test('are listed page by page, in their order', async () => {
    const { run } = await api.client.createRun(plan(...Array.from({ length: 5 }, () => write)));
    await worker.plan(run.id);
    const first = await api.client.listSteps(run.id, { limit: 3 });
    const second = await api.client.listSteps(run.id, { limit: 3, cursor: first.next_cursor ?? '' });
    expect([...first.data, ...second.data].map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect([first.has_more, second.has_more, second.next_cursor]).toEqual([true, false, null]);
  });
});
