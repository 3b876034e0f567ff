import { type Client, createClient } from '@holdpoint/client';
import type { Scope } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

let made = 0;
const unlimited = { requests_per_s: null, burst: null, streams: null };
const scopes: Scope[] = [
  ...(['runs:read', 'runs:write', 'approvals:read', 'approvals:decide', 'keys:admin'] as const),
  ...(['tools:read', 'policies:read'] as const),
];
const open = (key: string): Client => createClient({ baseUrl: api.address, key });

/** A person whose key the operator made. */
async function personOf(name: string, person?: string) {
  const { id, key } = await api.client.createKey({ name, kind: 'person', scopes, limits: unlimited, person });
  return { id, name, client: open(key) };
}

/** A further key that the holder of a key makes. */
async function furtherKey(client: Client, name = `further-${++made}`) {
  const { id, key, person } = await client.createKey({ name, kind: 'person', scopes, limits: unlimited });
  return { id, name, person, client: open(key) };
}

const write = (content: string) => ({ tool: 'write_file', args: { path: 'a.txt', content } });
const holding = (deciders: object) =>
  ({ rules: [{ match: { tool: 'write_file' }, action: 'hold', deciders }] }) as object;

async function heldBy(client: Client, deciders: object, content = 'own'): Promise<string> {
  const { run } = await client.createRun({
    plan: { groups: [{ steps: [write(content)] }] },
    policy: holding(deciders),
  });
  await worker.drive(run.id);
  return run.id;
}
/** A run that gets its calls from outside. */
async function openRunOf(client: Client, deciders: object): Promise<string> {
  const { run } = await client.createRun({ open: true, policy: holding(deciders) });
  await worker.drive(run.id);
  return run.id;
}
async function pendingOf(runId: string): Promise<Approval> {
  const [approval] = (await api.client.listApprovals({ run_id: runId })).data;
  if (approval === undefined) throw new Error(`nothing is held in ${runId}`);
  return approval;
}
const approve = (client: Client, { id, action_digest }: Approval) =>
  client.decideApproval(id, { decision: 'approve', action_digest });
const edit = (client: Client, { id, action_digest }: Approval, content: string) =>
  client.decideApproval(id, { decision: 'edit', action_digest, args: { path: 'a.txt', content } });
const notADecider = { status: 403, code: 'not_a_decider' };

describe('keys of one person', () => {
  test('count as one voter, and the operator says who is another person', async () => {
    const [ann, bob] = [await personOf('v-ann'), await personOf('v-bob')];
    const [second, third] = [await furtherKey(ann.client), await furtherKey((await furtherKey(ann.client)).client)];
    expect([second.person, third.person]).toEqual(['v-ann', 'v-ann']);
    const shown = await pendingOf(await heldBy(api.client, { quorum: 2 }));
    await approve(ann.client, shown);
    for (const { client } of [second, third]) {
      await expect(approve(client, shown)).rejects.toMatchObject({
        ...notADecider,
        message: expect.stringContaining('one person'),
      });
    }
    expect((await approve(bob.client, shown)).status).toBe('approved');
    await expect(
      ann.client.createKey({ name: 'v-else', kind: 'person', scopes, limits: unlimited, person: 'cy' }),
    ).rejects.toMatchObject({ code: 'key_not_allowed' });
  });

  test('of two devices belong to the person that the operator names', async () => {
    const [laptop, phone] = [await personOf('w-laptop', 'wim'), await personOf('w-phone', 'wim')];
    const shown = await pendingOf(await heldBy(api.client, { quorum: 2 }));
    await approve(laptop.client, shown);
    await expect(approve(phone.client, shown)).rejects.toMatchObject(notADecider);
  });

  test('decide nothing that another of them submitted', async () => {
    const ann = await personOf('s-ann');
    const second = await furtherKey(ann.client);
    const shown = await pendingOf(await heldBy(second.client, { not_submitter: true }));
    for (const { client } of [ann, second, await furtherKey(ann.client)]) {
      await expect(approve(client, shown)).rejects.toMatchObject(notADecider);
    }
  });

  test('are those whose text they have by rotation, or whose name they took', async () => {
    const [ann, bob] = [await personOf('r-ann'), await personOf('r-bob')];
    const taken = open((await ann.client.rotateKey(bob.id)).key);
    const shown = await pendingOf(await heldBy(api.client, { quorum: 2 }));
    await approve(ann.client, shown);
    await expect(approve(taken, shown)).rejects.toMatchObject(notADecider);
    const cy = await personOf('r-cy');
    await ann.client.revokeKey(cy.id);
    const named = await furtherKey(ann.client, 'r-cy');
    await expect(approve(named.client, shown)).rejects.toMatchObject(notADecider);
  });
});

describe('where duties are separated', () => {
  const separated = { not_submitter: true };

  test('who sent a call into the run of another does not decide on it, and the other calls are theirs to decide', async () => {
    const [ann, bob] = [await personOf('c-ann'), await personOf('c-bob')];
    const runId = await openRunOf(api.client, separated);
    const sentBy = async ({ client, name }: typeof ann): Promise<Approval> => {
      await client.sendCalls(runId, { calls: [write(`of ${name}`)] });
      await worker.drive(runId);
      return pendingOf(runId);
    };
    const shown = await sentBy(ann);
    await expect(approve(ann.client, shown)).rejects.toMatchObject(notADecider);
    await approve(bob.client, shown);
    await worker.drive(runId);
    const next = await sentBy(bob);
    await expect(approve(bob.client, next)).rejects.toMatchObject(notADecider);
    await approve(ann.client, next);
  });

  test('who wrote a message to the run does not decide on it', async () => {
    const ann = await personOf('m-ann');
    const runId = await heldBy(api.client, separated);
    await ann.client.sendMessage(runId, 'write it');
    await expect(approve(ann.client, await pendingOf(runId))).rejects.toMatchObject(notADecider);
  });

  test('an edit is confirmed by another person', async () => {
    const [ann, bob] = [await personOf('e-ann'), await personOf('e-bob')];
    const runId = await heldBy(api.client, separated);
    await edit(ann.client, await pendingOf(runId), 'edited');
    await worker.drive(runId);
    const again = await pendingOf(runId);
    expect(again).toMatchObject({
      edited_by: ['e-ann'],
      action: { args: { content: 'edited' } },
      allowed_decisions: ['approve', 'reject'],
      reason: expect.stringContaining('e-ann edited this call'),
    });
    for (const client of [ann.client, (await furtherKey(ann.client)).client]) {
      await expect(approve(client, again)).rejects.toMatchObject(notADecider);
    }
    expect((await api.client.listSteps(runId)).data[0]?.status).toBe('parked');
    await approve(bob.client, again);
    await worker.drive(runId);
    expect((await api.client.listSteps(runId)).data[0]?.status).toBe('succeeded');
  });
});

test('a fork that drops the policy of its run says so where its calls are decided', async () => {
  const { client } = await personOf('f-ann');
  const held = await heldBy(api.client, { not_submitter: true });
  const dropped = (await client.forkRun(held, { from_step: 0, policy: holding({}) })).run.id;
  const kept = (await client.forkRun(held, { from_step: 0 })).run.id;
  await worker.drive(dropped);
  await worker.drive(kept);
  const again = (await client.forkRun(dropped, { from_step: 0 })).run.id;
  await worker.drive(again);
  const said = await Promise.all([held, dropped, kept, again].map(async (id) => (await pendingOf(id)).other_policy));
  expect(said).toEqual([false, true, false, true]);
});

/** Numbers from 0 to 1 that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('one person alone', () => {
  test.each([1, 2, 3, 4])(
    'passes no quorum and approves nothing of their own, whatever they do (seed %i)',
    async (seed) => {
      const random = seeded(seed);
      const pick = <Item>(all: readonly Item[]): Item => all[Math.floor(random() * all.length)] as Item;
      const [mallory, other] = [await personOf(`x${seed}-mallory`), await personOf(`x${seed}-other`)];
      const keys = [mallory];
      const own = await heldBy(mallory.client, { not_submitter: true }, 'of mallory');
      const quorum = await heldBy(other.client, { quorum: 2 }, 'of other');
      const edited = await heldBy(other.client, { not_submitter: true }, 'of other');
      const inbox = await openRunOf(other.client, { not_submitter: true });
      const runs = [own, quorum, edited, inbox];
      const done: string[] = [];
      const acts: Record<string, () => Promise<unknown>> = {
        key: async () => keys.push(await furtherKey(pick(keys).client)),
        rotate: async () => {
          const victim = pick([other, ...keys]);
          keys.push({ ...victim, client: open((await pick(keys).client.rotateKey(victim.id)).key) });
        },
        message: () => pick(keys).client.sendMessage(pick(runs), 'continue'),
        call: () => pick(keys).client.sendCalls(inbox, { calls: [write('of mallory')] }),
        fork: async () => runs.push((await pick(keys).client.forkRun(pick(runs), { from_step: 0 })).run.id),
        delegate: async () =>
          pick(keys).client.delegateApproval((await pendingOf(pick(runs))).id, { to: pick(keys).name }),
        approve: async () => approve(pick(keys).client, await pendingOf(pick(runs))),
        edit: async () => edit(pick(keys).client, await pendingOf(pick(runs)), 'of mallory'),
      };
      for (let at = 0; at < 40; at++) {
        const name = pick(Object.keys(acts));
        await acts[name]?.().then(
          () => done.push(name),
          () => undefined,
        );
        for (const run of runs) await worker.drive(run);
      }
      expect(new Set(done).size).toBeGreaterThan(3);
      for (const run of runs) {
        for (const step of (await api.client.listSteps(run)).data) {
          if (step.status !== 'succeeded') continue;
          expect(`${done.join(' ')}: ${JSON.stringify(step.args)}`).not.toContain('of mallory"');
          expect([run, done.join(' ')]).not.toEqual([quorum, done.join(' ')]);
        }
      }
    },
  );
});
