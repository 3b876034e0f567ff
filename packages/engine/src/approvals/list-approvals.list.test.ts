import { type ApprovalStatus, approvalStatusSchema, type LoggedEvent } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { requestCancel, submitRun } from '../commands/index.ts';
import type { WorkerDeps } from '../deps.ts';
import { approvalHistory } from '../installation/migrations/approval-history.ts';
import { approvalIndexOf, decidedIndexOf, historyIndexOf, historyNamesKey, runIndexOf } from '../log/keys.ts';
import { readLog } from '../log/read-log.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { type ApprovalFilter, countApprovals, listApprovals } from './list-approvals.ts';

const engine = useTestEngine({ fresh: true });
const tenants = ['default', 'acme'];
const people = ['ann', 'bob', 'eve'];
const policyOf = (seconds: number) => ({
  approval_timeout_s: seconds,
  rules: [
    { name: 'two', match: { args: { '/effect': { glob: 'external' } } }, action: 'hold', deciders: { quorum: 2 } },
    { name: 'all', match: {}, action: 'hold' },
  ],
});

const call = (effect: string, more: Record<string, boolean> = {}) => ({ args: { effect, ...more } });
const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;
const maybe = <Value>(value: Value, chance = 0.4): Value | undefined => (Math.random() < chance ? value : undefined);

/** Runs with calls that are approved, edited, rejected, voted on, answered by a rule, canceled, expired and left open. */
async function randomHistory(deps: WorkerDeps, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const sure = surely[round];
    const effects = sure === undefined ? ['workspace', 'workspace', 'external', 'read'] : ['workspace'];
    const groups = Array.from({ length: 3 }, () => [call(oneOf(effects), { fail: false }), call(oneOf(effects))]);
    const policy = policyOf(sure?.seconds ?? oneOf([60, 3600, 7200]));
    const spec = { ...specOf(groups, { policy, onError: 'continue' }), labels: { team: oneOf(['red', 'blue']) } };
    const { runId } = await submitRun(deps, { spec, by: 'sue', kind: 'person', tenant: oneOf(tenants) });
    await deliverAll(deps);
    for (let turn = 0; turn < 3; turn++) {
      for (const view of await pendingOf(deps, runId)) await decideSomehow(deps, view, sure?.decision);
      await deliverAll(deps);
    }
    if (sure?.cancel ?? Math.random() < 0.2) await requestCancel(deps, runId, { by: 'sue' }).catch(() => undefined);
  }
  // A decision after the deadline records that the approval expired.
  const late = { ...deps, now: () => Date.now() + 120_000 };
  for (const { tenant, id, status, expires } of await readLogs(deps)) {
    if (status !== 'pending' || Date.parse(expires) > late.now()) continue;
    const { items } = await listApprovals(deps, { tenant }, { limit: 200 });
    await decideOn(
      late,
      items.find(({ approval }) => approval.id === id),
    ).catch(() => undefined);
  }
}

const pendingOf = async (deps: WorkerDeps, runId: string) =>
  (
    await Promise.all(tenants.map((tenant) => listApprovals(deps, { run_ids: [runId], tenant }, { limit: 50 })))
  ).flatMap(({ items }) => items);

const decisions = ['approve', 'approve', 'reject', 'edit', 'leave'] as const;
type Decision = (typeof decisions)[number];

/** The first runs have each status, whatever chance does. */
const surely: { decision: Decision; seconds: number; cancel: boolean }[] = [
  { decision: 'approve', seconds: 3600, cancel: false },
  { decision: 'reject', seconds: 3600, cancel: false },
  { decision: 'edit', seconds: 3600, cancel: false },
  { decision: 'leave', seconds: 60, cancel: false },
  { decision: 'leave', seconds: 3600, cancel: false },
  { decision: 'leave', seconds: 3600, cancel: true },
];

async function decideSomehow(
  deps: WorkerDeps,
  view: Awaited<ReturnType<typeof pendingOf>>[number],
  decision: Decision = oneOf(decisions),
): Promise<void> {
  if (decision === 'leave') return;
  const args = decision === 'edit' ? { args: { effect: 'workspace', fail: false } } : {};
  const remember = decision === 'approve' && Math.random() < 0.4 ? { remember: { scope: 'run' as const } } : {};
  const request = { decision, ...args, ...remember, by: oneOf(people) };
  // Some of these are refused: a quorum has no edit, and what needs several is not remembered.
  await decideOn(deps, view, request).catch(() => decideOn(deps, view, { by: request.by }).catch(() => undefined));
}

interface Read {
  id: string;
  tenant: string;
  run: string;
  tool: string | undefined;
  rule: string | undefined;
  team: string | undefined;
  status: ApprovalStatus;
  requested: string;
  expires: string;
  risk: string;
  by: string[];
  decided: string | undefined;
}

/** Every approval, from nothing but the logs. */
async function readLogs(deps: WorkerDeps): Promise<Read[]> {
  const found: Read[] = [];
  for (const tenant of tenants) {
    for (const run of await deps.redis.zrange(runIndexOf(tenant), '0', '-1')) {
      found.push(...inLog(await readLog(deps.redis, run, { limit: 100_000 }), { tenant, run }));
    }
  }
  return found;
}

const ends = { approve: 'approved', edit: 'edited', reject: 'rejected', respond: 'responded' } as const;

function inLog(events: readonly LoggedEvent[], about: { tenant: string; run: string }): Read[] {
  const found = new Map<string, Read>();
  const tools = new Map<string, string>();
  let team: string | undefined;
  const change = (id: string, values: Partial<Read>) => Object.assign(found.get(id) ?? {}, values);
  for (const event of events) {
    if (event.type === 'run.created') team = event.data.labels.team;
    if (event.type === 'step.created') tools.set(event.step_id, event.data.tool);
    if (event.type === 'approval.requested') {
      const { approval_id: id, rule, expires_at: expires, risk } = event.data;
      const asked = { id, rule: rule?.name, tool: tools.get(event.step_id ?? ''), team, requested: event.time, risk };
      found.set(id, { ...about, ...asked, expires, status: 'pending', by: [], decided: undefined });
    }
    if (event.type === 'approval.decided') {
      const { approval_id, decision, by, votes = [] } = event.data;
      const names = [by, ...votes.map((vote) => vote.by)];
      change(approval_id, { status: ends[decision], by: names, decided: event.time });
    }
    if (event.type === 'approval.expired') change(event.data.approval_id, { status: 'expired' });
    if (event.type === 'approval.canceled') change(event.data.approval_id, { status: 'canceled' });
  }
  return [...found.values()];
}

type Filter = ApprovalFilter & { tenant: string };

function naive(all: readonly Read[], filter: Filter): string[] {
  const { status = ['pending'], run_ids, tool, rule, label, by, order = 'newest' } = filter;
  const { requested_after, requested_before, decided_after, decided_before } = filter;
  const found = all
    .filter((one) => one.tenant === filter.tenant && status.includes(one.status))
    .filter((one) => run_ids === undefined || run_ids.includes(one.run))
    .filter((one) => tool === undefined || one.tool === tool)
    .filter((one) => rule === undefined || one.rule === rule)
    .filter((one) => label === undefined || one.team === label.value)
    .filter((one) => by === undefined || one.by.includes(by))
    .filter((one) => requested_after === undefined || one.requested > requested_after)
    .filter((one) => requested_before === undefined || one.requested < requested_before)
    .filter((one) => decided_after === undefined || (one.decided ?? '') > decided_after)
    .filter((one) => decided_before === undefined || (one.decided ?? '~') < decided_before)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (order === 'newest') return found.toReversed().map(({ id }) => id);
  if (order === 'oldest') return found.map(({ id }) => id);
  const second = ({ expires }: Read) => expires.slice(0, 19);
  const rank = ({ risk }: Read) => ['high', 'medium', 'low'].indexOf(risk);
  const first = (a: Read, b: Read) => (second(a) === second(b) ? rank(a) - rank(b) : second(a) < second(b) ? -1 : 1);
  return found.toSorted(first).map(({ id }) => id);
}

async function idsOf(filter: Filter, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await listApprovals(engine.deps, filter, { limit, cursor });
    expect(items.length).toBeLessThanOrEqual(limit);
    found.push(...items.map(({ approval }) => approval.id));
    if (next === undefined) return found;
    cursor = next;
  }
}

function randomFilter(all: readonly Read[]): Filter {
  const times = all.flatMap(({ requested, decided }) => (decided === undefined ? [requested] : [requested, decided]));
  const filter: Filter = {
    tenant: oneOf(tenants),
    run_ids: maybe([oneOf(all).run, oneOf(all).run], 0.2),
    tool: maybe(oneOf(['count', 'other']), 0.3),
    rule: maybe(oneOf(['all', 'two', 'none'])),
    label: maybe({ name: 'team', value: oneOf(['red', 'blue', 'green']) }),
    requested_after: maybe(oneOf(times), 0.2),
    requested_before: maybe(oneOf(times), 0.2),
  };
  if (Math.random() < 0.4) return { ...filter, order: oneOf(['newest', 'oldest', 'expires_first']) };
  return {
    ...filter,
    status: oneOf([
      approvalStatusSchema.options,
      ['approved', 'rejected'],
      ['expired', 'canceled'],
      ['edited', 'pending'],
    ]),
    by: maybe(oneOf([...people, 'zoe']), 0.3),
    decided_after: maybe(oneOf(times), 0.2),
    decided_before: maybe(oneOf(times), 0.2),
    order: oneOf(['newest', 'oldest']),
  };
}

async function compare(deps: WorkerDeps, rounds: number): Promise<readonly Read[]> {
  const all = await readLogs(deps);
  for (let round = 0; round < rounds; round++) {
    const filter = randomFilter(all);
    expect({ filter, ids: await idsOf(filter, 1 + (round % 5)) }).toEqual({ filter, ids: naive(all, filter) });
    const { tenant, run_ids, tool, rule, label, by } = filter;
    const asked = { tenant, run_ids, tool, rule, label, by };
    const { byStatus } = await countApprovals(deps, asked);
    const counts = byStatus.map(({ status }) => ({ status, count: naive(all, { ...asked, status: [status] }).length }));
    expect({ asked, byStatus }).toEqual({ asked, byStatus: counts });
  }
  return all;
}

test('every page in every order, and every count, is what a reading of all logs gives', {
  timeout: 60_000,
}, async () => {
  const { deps } = inMemoryWorker(engine);
  await randomHistory(deps, 9);
  const all = await compare(deps, 50);
  const statuses = new Set(all.map(({ status }) => status));
  expect([...statuses].toSorted()).toEqual(['approved', 'canceled', 'edited', 'expired', 'pending', 'rejected']);
  for (const run of new Set(all.map((one) => one.run))) await soundLog(deps, run);
  // A migration makes the same lists from the states.
  const names = await deps.redis.keys('hp:{decisions:*');
  await deps.redis.del(...names, ...(await deps.redis.keys('hp:{approvals:*')));
  const sides = { redis: deps.redis, dataDir: engine.directory };
  await approvalHistory.run(sides);
  await approvalHistory.run(sides);
  await compare(deps, 20);
});

test('while approvals are decided, a walk has each one that stays exactly once, in order', async () => {
  const { deps } = inMemoryWorker(engine);
  for (let n = 0; n < 10; n++) {
    const groups = [Array.from({ length: 4 }, () => ({ args: { effect: 'read' } }))];
    await submitRun(deps, { spec: specOf(groups, { policy: policyOf(oneOf([60, 90, 120])) }), by: 'sue' });
  }
  await deliverAll(deps);
  for (const order of ['newest', 'oldest', 'expires_first'] as const) {
    const before = naive(await readLogs(deps), { tenant: 'default', order });
    const walked: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { items, next } = await listApprovals(deps, { order }, { limit: 3, cursor });
      walked.push(...items.map(({ approval }) => approval.id));
      // The last entry of the page, whose place is the cursor, and any other.
      for (const view of [items.at(-1), oneOf(await pendingApprovals(deps))]) {
        if (view !== undefined && Math.random() < 0.5) await decideOn(deps, view).catch(() => undefined);
      }
      if (next === undefined) break;
      cursor = next;
    }
    const stayed = naive(await readLogs(deps), { tenant: 'default', order });
    expect(walked.filter((id) => stayed.includes(id))).toEqual(stayed);
    expect(walked).toEqual(before.filter((id) => walked.includes(id)));
  }
});

test('a sweep removes what a process left that died before its append, and after it', async () => {
  const { deps } = inMemoryWorker(engine);
  const { redis } = deps;
  for (let n = 0; n < 3; n++) {
    await submitRun(deps, { spec: specOf([[{ args: { effect: 'read' } }]], { policy: policyOf(60) }), by: 'sue' });
  }
  await deliverAll(deps);
  const [ahead, behind, lost] = (await pendingApprovals(deps)).map(({ approval }) => approval.id) as [
    string,
    string,
    string,
  ];
  const list = (name: string) => historyIndexOf('default', name);
  const enter = async (id: string) => {
    const names = JSON.parse((await redis.hget(historyNamesKey('default'), id)) ?? '[]') as string[];
    await redis.hset(historyNamesKey('default'), id, JSON.stringify([...names, 'status:rejected', 'decider:zoe']));
    await redis.zadd(list('status:rejected'), 0, id);
    await redis.zadd(list('decider:zoe'), 0, id);
    await redis.zadd(decidedIndexOf('default'), 1, id);
  };
  // The lists of a decision that was never appended.
  await enter(ahead);
  // A decision in the log, with the lists as they were before.
  const view = (await pendingApprovals(deps)).find(({ approval }) => approval.id === behind);
  await decideOn(deps, view, { decision: 'reject', by: 'bob' });
  await redis.zadd(list('status:pending'), 0, behind);
  await redis.zrem(list('status:rejected'), behind);
  await redis.zadd(approvalIndexOf('default'), 0, behind);
  await redis.zrem(list('rule:all'), lost);
  // A request that was never appended, long ago.
  const gone = 'apr_01900000-0000-7000-8000-000000000000';
  await redis.zadd(approvalIndexOf('default'), 0, gone);
  await redis.hset(historyNamesKey('default'), gone, JSON.stringify(['status:pending', 'tool:count']));
  for (const name of ['status:pending', 'tool:count']) await redis.zadd(list(name), 0, gone);

  await sweepOnce(deps);
  await compare(deps, 15);
  expect(await redis.zscore(list('decider:zoe'), ahead)).toBeNull();
  expect(await redis.zscore(list('tool:count'), gone)).toBeNull();
  expect((await redis.hkeys(historyNamesKey('default'))).toSorted()).toEqual([ahead, lost].toSorted());
});

test('a refused decision leaves the lists as the winner made them', async () => {
  const { deps } = inMemoryWorker(engine);
  const groups = [Array.from({ length: 12 }, () => ({ args: { effect: 'read' } }))];
  await submitRun(deps, { spec: specOf(groups, { policy: policyOf(60) }), by: 'sue' });
  await deliverAll(deps);
  const views = await pendingApprovals(deps);
  const decisions = views.flatMap((view) =>
    people.map((by) => decideOn(deps, view, { by, decision: oneOf(['approve', 'reject']) }).catch(() => undefined)),
  );
  await Promise.all(decisions);
  // The corrections of refused decisions are under way on the same connection.
  await expect.poll(() => deps.redis.hlen(historyNamesKey('default'))).toBe(0);
  await expect
    .poll(async () => (await countApprovals(deps, {})).byStatus.reduce((sum, { count }) => sum + count, 0))
    .toBe(12);
  await compare(deps, 15);
});
