import { createClient } from '@holdpoint/client';
import type { Approval, RunEvent } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { finished, until, useSystem } from '../harness/index.ts';

const system = useSystem();
const { client } = system;

/** `npm run test:crash` has the full form: 1,000 decisions on 100 steps. */
const runs = process.env.HOLDPOINT_CRASH === 'full' ? 5 : 2;
const stepsPerRun = 20;
const decisionsPerStep = 10;
const read = { tool: 'read_file', args: { path: 'a.txt' } };
const held = (more: object = {}) =>
  ({ rules: [{ match: { tool: 'read_file' }, action: 'hold' as const, ...more }] }) as object;
const group = (count: number) => ({
  groups: [{ on_error: 'continue' as const, steps: Array.from({ length: count }, () => read) }],
});

async function pendingOf(count: number): Promise<Approval[]> {
  let found: Approval[] = [];
  await until(
    `${count} approvals are open`,
    async () => {
      found = (await client.listApprovals({ limit: 200 })).data;
      return found.length === count;
    },
    { withinMs: 120_000 },
  );
  return found;
}

async function eventsOf(runIds: readonly string[]): Promise<RunEvent[]> {
  const logs = await Promise.all(
    runIds.map(async (id) => {
      const all: RunEvent[] = [];
      for await (const event of client.events(id, { signal: AbortSignal.timeout(60_000) })) all.push(event);
      return all;
    }),
  );
  return logs.flat();
}

const submit = async (source: string, count: number, policy: object): Promise<string> =>
  (await client.createRun({ plan: group(count), policy, workspace: { source: { type: 'directory', path: source } } }))
    .run.id;

test('of ten decisions on a step one wins, whatever is killed, and nothing runs after a rejection', async () => {
  const source = await system.directoryWith({ 'a.txt': 'text\n' });
  const ids = await Promise.all(Array.from({ length: runs }, () => submit(source, stepsPerRun, held())));
  const before = (await pendingOf(runs * stepsPerRun)).map(({ id }) => id);
  // Every process dies, Redis included; each approval is there afterwards.
  await system.api.kill();
  await system.redis.kill();
  await system.redis.start();
  await system.api.start();
  const shown = await pendingOf(runs * stepsPerRun);
  expect(shown.map(({ id }) => id)).toEqual(before);

  const other = await system.startOtherApi();
  const third = createClient({ baseUrl: system.api.url(), key: system.key });
  const stale = `sha256:${'0'.repeat(64)}`;
  let asked = 0;
  const answers = await Promise.all(
    shown.flatMap((approval, at) =>
      Array.from({ length: decisionsPerStep }, async (_, n) => {
        const via = [client, other.client, third][n % 3] ?? client;
        const isStale = n === 9;
        const decision = (at + n) % 2 === 0 ? 'approve' : 'reject';
        const body = { decision, action_digest: isStale ? stale : approval.action_digest } as const;
        // In the middle of it one of the two processes dies.
        if (++asked === runs * stepsPerRun * 4) setImmediate(() => void other.signal('SIGKILL'));
        const answer = await via.decideApproval(approval.id, body).then(
          ({ status }) => status as string,
          (error: { code?: string }) => error.code ?? 'no answer',
        );
        return { id: approval.id, isStale, decision, answer, isOther: via === other.client };
      }),
    ),
  );
  // What the killed process did not answer is asked again.
  for (const approval of shown) {
    const { status } = await client.getApproval(approval.id);
    if (status !== 'pending') continue;
    await client.decideApproval(approval.id, { decision: 'reject', action_digest: approval.action_digest });
  }
  await Promise.all(ids.map((id) => finished(client, id)));
  await Promise.all([other.client.close(), third.close()]);

  const events = await eventsOf(ids);
  const decided = events.filter((event) => event.type === 'approval.decided');
  expect(decided).toHaveLength(runs * stepsPerRun);
  expect(new Set(decided.map(({ data }) => data.approval_id)).size).toBe(runs * stepsPerRun);
  const winners = new Map(decided.map(({ data }) => [data.approval_id, data.decision]));
  const status = { approve: 'approved', reject: 'rejected', edit: '', respond: '' };
  for (const { id, isStale, decision, answer, isOther } of answers) {
    // The process was killed.
    if (isOther && answer === 'connection_failed') continue;
    const winner = winners.get(id) ?? 'respond';
    if (isStale) expect(['action_changed', 'already_decided']).toContain(answer);
    else expect(answer).toBe(decision === winner ? status[winner] : 'already_decided');
  }
  const started = new Set(events.flatMap((event) => (event.type === 'step.started' ? [event.step_id] : [])));
  for (const event of decided) {
    expect(started.has(event.step_id ?? '')).toBe(event.data.decision === 'approve');
  }
});

test('decisions that race with the deadline win or lose as a whole, and nothing runs after an expiry', async () => {
  const source = await system.directoryWith({ 'a.txt': 'text\n' });
  const id = await submit(source, stepsPerRun, held({ expires_s: 4 }));
  const shown = await pendingOf(stepsPerRun);
  const answers = await Promise.all(
    shown.map(async ({ id: approvalId, action_digest, expires_at }, at) => {
      // Spread over the last and the next second around the deadline.
      const sendAt = Date.parse(expires_at) + (at - stepsPerRun / 2) * 40;
      await until('it is time', () => Date.now() >= sendAt);
      const decision = { decision: 'approve', action_digest } as const;
      return client.decideApproval(approvalId, decision).then(
        ({ status }) => status as string,
        (error: { code?: string }) => error.code ?? 'no answer',
      );
    }),
  );
  await finished(client, id);
  const events = await eventsOf([id]);
  const started = new Set(events.flatMap((event) => (event.type === 'step.started' ? [event.step_id] : [])));
  for (const [at, { id: approvalId, step_id }] of shown.entries()) {
    const ends = events.filter(
      ({ type, data }) =>
        (type === 'approval.decided' || type === 'approval.expired') && data.approval_id === approvalId,
    );
    expect(ends).toHaveLength(1);
    const isDecided = ends[0]?.type === 'approval.decided';
    expect(answers[at]).toBe(isDecided ? 'approved' : 'already_decided');
    expect(started.has(step_id ?? '')).toBe(isDecided);
  }
});
