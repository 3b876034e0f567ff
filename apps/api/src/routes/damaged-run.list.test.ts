import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DamagedEntry } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { type TestWorker, testWorker } from '../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
/** The runs whose entries every list still has. */
let healthy: { run: string; approval: string; rule: string };
/** One damaged run per kind of damage. */
let damaged: Record<'objects' | 'blobs' | 'state' | 'workspace' | 'event', { run: string; approval: string }>;
const undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
  damaged = {
    objects: await heldRun(),
    blobs: await heldRun('x'.repeat(50_000)),
    state: await heldRun(),
    workspace: await heldRun(),
    event: await heldRun(),
  };
  const held = await heldRun();
  healthy = { ...held, rule: await rememberedRule() };
  await damageAll();
});
afterAll(async () => {
  for (const act of undo.reverse()) await act();
  await api.stop();
});

const policy = {
  rules: [{ name: 'asks', match: { tool: 'write_file', args: { '/path': { glob: 'held*' } } }, action: 'hold' }],
};

/** A run that wrote a file, began a background command, and holds its next call. */
async function heldRun(content = 'text'): Promise<{ run: string; approval: string }> {
  const groups = [
    { steps: [{ tool: 'bash', args: { command: 'true', run_in_background: true } }] },
    { steps: [{ tool: 'write_file', args: { path: 'a.txt', content: `free ${content}` } }] },
    { steps: [{ tool: 'write_file', args: { path: 'held.txt', content } }] },
  ];
  const { run } = await api.client.createRun({ plan: { groups }, policy: policy as object });
  await worker.drive(run.id);
  const [approval] = (await api.client.listApprovals({ run_id: run.id })).data;
  if (approval === undefined) throw new Error('nothing is held');
  return { run: run.id, approval: approval.id };
}

async function rememberedRule(): Promise<string> {
  const { approval } = await heldRun('remembered');
  const { action_digest } = await api.client.getApproval(approval);
  const decided = await api.client.decideApproval(approval, {
    ...{ decision: 'approve', action_digest },
    remember: 'run',
  });
  return decided.decision?.made_rule ?? '';
}

async function damageAll(): Promise<void> {
  const { redis } = api.engine;
  const state = (run: string) => `hp:{${run}}:state`;
  const folder = (run: string) => join(api.dataDir, 'runs', run);
  // An approval of an earlier version: it has nothing of its files with it.
  const { run, approval } = damaged.objects;
  const request = JSON.parse((await redis.hget(state(run), `${approval}:request`)) ?? '{}');
  await redis.hset(state(run), `${approval}:request`, JSON.stringify({ ...request, files: undefined }));
  await rm(join(folder(run), 'shadow.git', 'objects'), { recursive: true });
  // Every blob is away: those of the run whose arguments are long.
  const blobs = join(api.dataDir, 'blobs');
  await rename(blobs, `${blobs}.away`);
  undo.push(() => rename(`${blobs}.away`, blobs));
  // A field that was cut in the middle.
  const title = (await redis.hget(state(damaged.state.run), 'header')) ?? '';
  expect(title).not.toBe('');
  await redis.hset(state(damaged.state.run), 'header', title.slice(0, 20));
  undo.push(() => redis.hset(state(damaged.state.run), 'header', title));
  await rm(folder(damaged.workspace.run), { recursive: true, force: true });
  // An event of the log that was cut.
  const log = `hp:{${damaged.event.run}}:log`;
  const whole = await redis.dumpBuffer(log);
  const entries = await redis.xrange(log, '-', '+');
  await redis.del(log);
  for (const [id, [name = '', text = '']] of entries) {
    await redis.xadd(log, id, name, id === '3-0' ? text.slice(0, 30) : text);
  }
  undo.push(async () => {
    await redis.del(log);
    await redis.restore(log, 0, whole as unknown as string);
  });
}

interface List {
  data: Record<string, unknown>[];
  damaged?: DamagedEntry[];
}
async function listOf(path: string): Promise<List> {
  const response = await api.send(path);
  const body = await response.text();
  expect([path, response.status, body.slice(0, 300)]).toEqual([path, 200, expect.anything()]);
  return JSON.parse(body) as List;
}
const idsOf = ({ data }: List): unknown[] => data.map(({ id }) => id);
const namesOf = ({ damaged: named = [] }: List): string[] => named.map(({ id }) => id);

describe('one damaged run', () => {
  test('leaves the inbox to the others, and its own approvals as far as they can be read', async () => {
    const list = await listOf('/v1/approvals?limit=100');
    expect(idsOf(list)).toEqual(
      expect.arrayContaining([healthy.approval, damaged.objects.approval, damaged.workspace.approval]),
    );
    expect(namesOf(list).sort()).toEqual([damaged.blobs.approval, damaged.state.approval].sort());
    expect(list.damaged?.find(({ id }) => id === damaged.blobs.approval)).toMatchObject({ code: 'blob_missing' });
    expect(list.damaged?.find(({ id }) => id === damaged.state.approval)).toMatchObject({
      ...{ code: 'state_damaged', next: expect.stringContaining('Restore') },
    });
    const unread = list.data.find(({ id }) => id === damaged.objects.approval)?.files_unread;
    expect(unread).toEqual(expect.any(String));
    // The approval itself has what it shows of its files: the workspace, which is gone, is not opened.
    for (const { approval } of [healthy, damaged.workspace]) {
      expect(list.data.find(({ id }) => id === approval)?.files_unread).toBeNull();
    }
  });

  test('shows its approval by itself, and lets a person refuse it', async () => {
    const approval = await api.client.getApproval(damaged.objects.approval);
    expect(approval.files_unread).toEqual(expect.any(String));
    const { action_digest } = approval;
    await api.client.decideApproval(approval.id, { decision: 'reject', action_digest, message: 'damaged' });
  });

  test.each([1, 2])('is passed by a list with pages of %i', async (limit) => {
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = (await listOf(`/v1/runs?limit=${limit}${cursor}`)) as List & { next_cursor: string | null };
      expect(page.data.length + namesOf(page).length).toBeLessThanOrEqual(limit);
      seen.push(...idsOf(page), ...namesOf(page));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  });

  test.each([
    ['/v1/runs?limit=100', () => healthy.run, () => [damaged.state.run]],
    ['/v1/runs?limit=100&status=waiting', () => healthy.run, () => [damaged.state.run]],
    ['/v1/rules', () => undefined, () => [healthy.rule]],
  ])('%s has the others', async (path, found, named) => {
    const list = await listOf(path);
    const wanted = found();
    if (wanted !== undefined) expect(idsOf(list)).toContain(wanted);
    for (const id of named()) expect([...namesOf(list), ...idsOf(list)]).toContain(id);
  });

  test('leaves the events of the others', async () => {
    const list = await listOf('/v1/events?limit=1000');
    expect(list.data.map(({ run_id }) => run_id)).toEqual(expect.arrayContaining([healthy.run, damaged.event.run]));
    expect(namesOf(list)).toEqual([`${damaged.event.run}:3`]);
    const own = await listOf(`/v1/runs/${damaged.event.run}/events?limit=100`);
    expect(namesOf(own)).toEqual([`${damaged.event.run}:3`]);
    expect(own.data.length).toBeGreaterThan(10);
  });

  test('has its own lists as far as they can be read', async () => {
    for (const { run } of [damaged.blobs, damaged.objects, damaged.workspace, damaged.event]) {
      for (const list of ['steps', 'steps?view=summary', 'tasks', 'snapshots', 'events']) {
        await listOf(`/v1/runs/${run}/${list}`);
      }
      await listOf(`/v1/approvals?run_id=${run}`);
    }
    const steps = await listOf(`/v1/runs/${damaged.blobs.run}/steps`);
    expect(steps.data).toHaveLength(3);
    // What was asked for is a blob, too, and no result can be shown without it.
    expect(steps.damaged?.map(({ code }) => code)).toEqual(['blob_missing', 'blob_missing', 'blob_missing']);
  });

  test('is named by a replay of the past', async () => {
    const body = { policy: { rules: [] }, since: new Date(Date.now() - 3_600_000).toISOString() };
    for (const what of ['replay', 'propose']) {
      const response = await api.post(`/v1/policies/${what}`, what === 'replay' ? body : { since: body.since });
      expect([what, response.status]).toEqual([what, 200]);
      const named = namesOf((await response.json()) as List);
      expect(named).toEqual(expect.arrayContaining([damaged.state.run, damaged.event.run]));
    }
  });

  test('lets every other list of the API answer', async () => {
    const document = (await (await api.send('/openapi.json')).json()) as {
      paths: Record<string, { get?: { responses: Record<string, unknown> } }>;
    };
    const lists = Object.entries(document.paths).filter(
      ([path, { get }]) => get !== undefined && /^\/v1\/(?!sign-in\/)[^{]*$/.test(path),
    );
    expect(lists.length).toBeGreaterThan(15);
    for (const [path] of lists) {
      const response = await api.send(path);
      expect([path, response.status]).toEqual([path, 200]);
      await response.text();
    }
  });
});

test('a damaged key is named, and the other keys are listed', async () => {
  const { key_info } = { key_info: await api.client.createKey({ name: 'cut', kind: 'person', scopes: ['runs:read'] }) };
  const { redis } = api.engine;
  const name = `hp:{keys}:key:${key_info.id}`;
  const record = (await redis.hget(name, 'record')) ?? '';
  await redis.hset(name, 'record', record.slice(0, 40));
  const list = await listOf('/v1/keys');
  expect(list.data.map((one) => one.name)).toContain('admin');
  expect(namesOf(list)).toEqual([key_info.id]);
  await redis.hset(name, 'record', record);
});

test('a damaged policy is named, and the others are listed', async () => {
  const { redis } = api.engine;
  for (const name of ['first', 'second']) await api.client.putPolicy(name, { rules: [] });
  const [key = ''] = (await redis.keys('hp:*policy:*')).filter((one) => one.endsWith(':first'));
  const text = (await redis.hget(key, 'version:1')) ?? '';
  expect(text).not.toBe('');
  await redis.hset(key, 'version:1', text.slice(0, 30));
  for (const path of ['/v1/policies', '/v1/policies/first/versions']) await listOf(path);
  const list = await listOf('/v1/policies');
  expect(list.data.map(({ name }) => name)).toContain('second');
  expect(namesOf(list)).toEqual(['first']);
  const named: string[] = [];
  const read = await api.client.listPolicies({ onDamaged: (all) => named.push(...all.map(({ id }) => id)) });
  expect([named, read.map(({ name }) => name).includes('first')]).toEqual([['first'], false]);
  await redis.hset(key, 'version:1', text);
});
