import { readFileSync } from 'node:fs';
import type { AuditFindingCode, AuditReport, LoggedEvent } from '@holdpoint/contract';
import type { Stuck } from '@holdpoint/contract/wire';
import type { TaskState } from '@holdpoint/engine';
import { fold, parseAllApprovals, parseAllSteps, parseAllTasks, parseRun } from '@holdpoint/engine/testing';
import { expect, test } from 'vitest';
import { slownessOf } from '../../harness/machine-speed.ts';
import type { Found, FoundRun } from '../collect.ts';
import { openLedger } from '../ledger.ts';
import { auditSound } from './audit.ts';
import { externalEffects, publications, workspaceEffects } from './effects.ts';
import { atRest, failures, leases, leftBehind, listedApprovals, notRepaired, wakeUps } from './idle-system.ts';
import { filesKept, lossIsReported, notReady, wrongRedis } from './installation.ts';
import { placesBounded, stepsBounded } from './limits.ts';
import { acknowledged, dense, firstDecision, folded, neverRan } from './log.ts';
import { logsBounded, loopsFree } from './logs.ts';

const id = (kind: string, n = 1): string => `${kind}_01900000-0000-7000-8000-00000000000${n}`;
const [run, step, approval] = [id('run'), id('step'), id('apr')];
const snapshot = '1'.repeat(40);

/** A small valid run: one command that counted once, and an approval that was decided once. */
function validRun(): { found: Found; one: FoundRun } {
  const data: [string, object, string?][] = [
    ['run.created', { spec: { json: 0 }, title: 't', toolset: 'x', planner: 'scripted', labels: {}, created_by: 'a' }],
    ['workspace.materialised', { snapshot, base_commit: null, files: 0, bytes: 0, skipped: 0 }],
    ['run.started', {}],
    ['turn.planned', { turn: 1, steps: [step], message: '' }],
    ['step.created', { turn: 1, index: 0, tool: 'bash', args: { json: 0 }, effect: 'workspace', risk: 'low' }, step],
    [
      'approval.requested',
      {
        approval_id: approval,
        kind: 'action',
        snapshot,
        reason: '',
        risk: 'low',
        allowed_decisions: ['approve'],
        expires_at: '2026-01-01T00:00:00.000Z',
      },
      step,
    ],
    ['run.waiting', { for: 'approval' }],
    [
      'approval.decided',
      { approval_id: approval, decision: 'approve', action_digest: '', snapshot, message: 'yes', by: 'a' },
      step,
    ],
    ['step.queued', { reason: '' }, step],
    ['run.resumed', { after: 'approval', status: 'running', turn: 1 }],
    ['step.started', { attempt: 1, worker: 'w', epoch: 1, writes: true }, step],
    ['workspace.snapshotted', { attempt: 1, snapshot, parent: snapshot, files_changed: 1, skipped: 0 }, step],
    ['step.succeeded', { attempt: 1 }, step],
    ['run.succeeded', { message: '' }],
  ];
  const events = data.map(([type, more, step_id], index) => ({
    id: id('evt'),
    run_id: run,
    time: '2026-01-01T00:00:00.000Z',
    type,
    data: more,
    seq: index + 1,
    ...(step_id && { step_id }),
  })) as LoggedEvent[];
  const hash = fold(events);
  const state = parseRun(run, hash);
  if (!state) throw new Error('no run');
  const one: FoundRun = {
    run: state,
    events,
    hash,
    steps: parseAllSteps(hash),
    approvals: parseAllApprovals(hash),
    tasks: parseAllTasks(hash),
    args: new Map([[step, { command: "printf '%s\n' m1-1 >> counter_1; curl -sS http://h/m1-1" }]]),
    marks: new Map([['m1-1', 1]]),
  };
  return { found: { runs: new Map([[run, one]]), jobs: [], active: [], listed: [] }, one };
}

const at = (time: number) => ({ sent: time, answered: time });
const ledger = () => {
  const made = openLedger();
  made.runs.set(run, { at: at(1000), body: {} });
  made.decided.push({ at: at(1000), approvalId: approval, runId: run, decision: 'approve', message: 'yes' });
  made.visits.set('m1-1', [1000]);
  return made;
};
const first = <Item>(items: readonly Item[]): Item => items[0] as Item;

test('a valid run passes every check', () => {
  const { found } = validRun();
  const log = ledger();
  for (const verdict of [
    acknowledged(found, log),
    dense(found),
    folded(found),
    firstDecision(found, log),
    neverRan(found),
    workspaceEffects(found, log),
    externalEffects(found, log),
    atRest(found),
    leases(found),
    failures(found),
    wakeUps(found),
    listedApprovals(found),
    wrongRedis(log),
    notReady(log),
    filesKept(found, log),
    placesBounded(found, log),
    stepsBounded(found, log),
    lossIsReported(found, log, noRepairs),
    auditSound(sealed(), log),
  ]) {
    expect(verdict.wrong, verdict.name).toEqual([]);
  }
});

/** The report on an audit log with these findings. */
const sealed = (codes: AuditFindingCode[] = []): AuditReport => ({
  ...{ ok: codes.length === 0, head: { seq: 1, hash: '0'.repeat(64) }, records: 1, runs: 1 },
  events: { sealed: 1, unsealed: 0 },
  ...{ findings: codes.map((code) => ({ code, message: 'planted' })), findings_total: codes.length },
  ...{ removed: [], removed_total: 0 },
});

/** The answer of GET /v1/stuck without repairs. */
const noRepairs = { repairs: {}, runs: {}, paused: {} } as Stuck;

type Log = ReturnType<typeof ledger>;
type Row = [
  string,
  (planted: { found: Found; one: FoundRun; log: Log }) => unknown,
  (found: Found, log: Log) => { wrong: string[] },
];

test.each<Row>([
  ['an acknowledged run that is gone', ({ found }) => found.runs.clear(), acknowledged],
  [
    'a decision that is not in the log',
    ({ log }) => Object.assign(first(log.decided), { message: 'no' }),
    acknowledged,
  ],
  [
    'a message that is not in the log',
    ({ log }) => log.messages.push({ at: at(1000), runId: run, messageId: 'x', text: '' }),
    acknowledged,
  ],
  ['a gap in the sequence numbers', ({ one }) => one.events.splice(3, 1), dense],
  ['a state that differs from its log', ({ one }) => Object.assign(one.hash, { open: '7' }), folded],
  ['an effect that is there twice', ({ one }) => one.marks.set('m1-1', 2), workspaceEffects],
  ['an effect that is missing', ({ one }) => one.marks.clear(), workspaceEffects],
  [
    'an effect of a step that was rejected',
    ({ one }) => Object.assign(first(one.steps), { status: 'rejected' }),
    workspaceEffects,
  ],
  ['an effect that no step has', ({ one }) => one.marks.set('m9-9', 1), workspaceEffects],
  ['an external effect that happens twice', ({ log }) => log.visits.set('m1-1', [1000, 2000]), externalEffects],
  ['a rejected step that started', ({ one }) => Object.assign(first(one.steps), { status: 'rejected' }), neverRan],
  ['two ends of one approval', ({ one }) => one.events.push(one.events[7] as LoggedEvent), firstDecision],
  ['two winners', ({ log }) => log.decided.push({ ...first(log.decided), message: 'I, too' }), firstDecision],
  ['a stuck run', ({ one }) => Object.assign(one.run, { status: 'running' }), atRest],
  ['a workspace with a writer', ({ one }) => Object.assign(one.run, { writer: step }), leases],
  ['a workspace that was not restored', ({ one }) => Object.assign(one.run, { restore: 'due' }), leases],
  ['a task of an ended run', ({ one }) => one.tasks.push({ id: 'x', status: 'running' } as TaskState), leases],
  [
    'a run that failed because a worker died',
    ({ one }) => Object.assign(one.run, { status: 'failed', reason: { code: 'EWORKERLOST', message: '' } }),
    failures,
  ],
  [
    'a job of an ended run',
    ({ found }) => found.jobs.push({ queue: 'steps', id: step, runId: run, state: 'delayed' }),
    wakeUps,
  ],
  [
    'a job of no run',
    ({ found }) => found.jobs.push({ queue: 'steps', id: step, runId: id('run', 2), state: 'failed' }),
    wakeUps,
  ],
  [
    'an approval that is not listed',
    ({ one }) => {
      Object.assign(one.run, { status: 'waiting' });
      Object.assign(first(one.approvals), { status: 'pending' });
    },
    listedApprovals,
  ],
  [
    'a worker that started with the wrong Redis',
    ({ log }) => Object.assign(log.wrongRedis, { started: 1 }),
    (_, log) => wrongRedis(log),
  ],
  [
    'a system that says it is ready while Redis refuses writes',
    ({ log }) => log.refusals.push({ how: 'read-only', saidReady: true }),
    (_, log) => notReady(log),
  ],
  ['a workspace that is gone', ({ log }) => log.filesLost.push('runs/run_1/shadow.git'), filesKept],
  ['files that cannot be read', ({ one }) => Object.assign(one, { unreadable: 'gone' }), filesKept],
  [
    'a loss that is not reported',
    ({ found, log }) => {
      found.runs.clear();
      log.lost.push({ from: 900, to: 1100 });
    },
    (found, log) => lossIsReported(found, log, noRepairs),
  ],
  [
    'a loss outside the time in which Redis lost its tail',
    ({ found, log }) => {
      found.runs.clear();
      log.lost.push({ from: 1100, to: 1200 });
    },
    acknowledged,
  ],
  ['an ended run in the active index', ({ found }) => found.active.push(run), wakeUps],
  ['a sealed event that is gone', () => {}, (_, log) => auditSound(sealed(['event_missing']), log)],
  [
    'a changed audit record after Redis lost its tail',
    ({ log }) => log.lost.push({ from: 900, to: 1100 }),
    (_, log) => auditSound(sealed(['event_missing', 'record_changed']), log),
  ],
])('%s is caught', (_, plant, check) => {
  const { found, one } = validRun();
  const log = ledger();
  plant({ found, one, log });
  expect(check(found, log).wrong).not.toEqual([]);
});

test('a reported loss of Redis is not a violation', () => {
  const { found } = validRun();
  const log = ledger();
  found.runs.clear();
  log.lost.push({ from: 900, to: 1100 });
  expect(acknowledged(found, log).wrong).toEqual([]);
  expect(
    firstDecision(found, {
      ...log,
      decided: [...log.decided, { ...first(log.decided), at: at(2000), message: 'again' }],
    }).wrong,
  ).toEqual([]);
  expect(externalEffects(found, log).wrong).toEqual([]);
  expect(lossIsReported(found, log, { ...noRepairs, repairs: { log_went_back: 1 } }).wrong).toEqual([]);
  expect(auditSound(sealed(['redis_went_back', 'event_missing']), log).wrong).toEqual([]);
});

test('an open run without a job is caught', () => {
  const { found, one } = validRun();
  Object.assign(one.run, { status: 'running' });
  found.active.push(run);
  expect(wakeUps(found).wrong).toHaveLength(1);
});

test('a publish that is missing, doubled or different is caught', async () => {
  const { found, one } = validRun();
  const log = ledger();
  log.published.push({ at: at(1000), runId: run });
  const check = (there: { files: string; commits: number } | undefined) =>
    publications(
      found,
      log,
      async () => there,
      async () => 'tree',
    );
  expect((await check({ files: 'tree', commits: 1 })).wrong).not.toEqual([]);
  Object.assign(one.run, { publication: 'published' });
  expect((await check({ files: 'tree', commits: 1 })).wrong).toEqual([]);
  for (const there of [undefined, { files: 'other', commits: 1 }, { files: 'tree', commits: 2 }]) {
    expect((await check(there)).wrong).not.toEqual([]);
  }
});

const second = '2026-01-01T00:00:01.000Z';

test('one run too many is caught, and a run that was accepted before the limit is not', () => {
  const { found, one } = validRun();
  const log = ledger();
  log.places.push({ from: 0, most: 1 });
  for (const event of one.events.slice(1)) Object.assign(event, { time: second });
  expect(placesBounded(found, log)).toMatchObject({ looked: 1, wrong: [] });
  const other = { ...validRun().one, run: { ...one.run, id: id('run', 2) } };
  found.runs.set(other.run.id, other);
  for (const event of other.events) Object.assign(event, { time: second });
  // The first run ends at this time.
  expect(placesBounded(found, log).wrong).toEqual([]);
  Object.assign(first(other.events), { time: '2026-01-01T00:00:00.500Z' });
  expect(placesBounded(found, log).wrong).toHaveLength(1);
  log.places = [{ from: Date.parse(second), most: 1 }];
  expect(placesBounded(found, log)).toMatchObject({ looked: 0, wrong: [] });
  other.run.parent = { run_id: run, task_id: 'x', depth: 1 } as typeof other.run.parent;
  log.places = [{ from: 0, most: 1 }];
  expect(placesBounded(found, log).wrong).toEqual([]);
});

test('one step too many of a worker is caught, and an attempt whose worker was lost does not count', () => {
  const { found, one } = validRun();
  const log = ledger();
  log.workers.set('w', 1);
  const settled = one.events.findIndex(({ type }) => type === 'step.succeeded');
  for (const event of one.events.slice(settled)) Object.assign(event, { time: second });
  expect(stepsBounded(found, log)).toMatchObject({ looked: 1, wrong: [] });
  const [other, more] = [id('step', 2), one.events.filter(({ type }) => /^step\.(started|succeeded)$/.test(type))];
  one.events.push(...more.map((event) => ({ ...event, step_id: other }) as LoggedEvent));
  expect(stepsBounded(found, log).wrong).not.toEqual([]);
  Object.assign(one.events.at(-1)?.data ?? {}, { attempt: 2 });
  Object.assign(one.events, [...one.events.slice(0, -1), { ...one.events.at(-1), data: { attempt: 2 } }]);
  expect(stepsBounded(found, log).wrong).toEqual([]);
});

test('a process that remains is caught', () => {
  expect(leftBehind({ directory: '/nowhere/at/all', dataDir: '/nowhere/at/all' }).wrong).toEqual([]);
  // The parent of this process has another command line.
  const parent = readFileSync(`/proc/${process.ppid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  expect(leftBehind({ directory: parent, dataDir: '/nowhere/at/all' }).wrong).not.toEqual([]);
});

test('a repair without a fault is caught, by its count and by its event', () => {
  const { found, one } = validRun();
  expect(notRepaired(found, noRepairs).wrong).toEqual([]);
  expect(notRepaired(found, { ...noRepairs, repairs: { orphaned_delayed_job: 1 } }).wrong).toHaveLength(1);
  const data = { class: 'queued_without_job' as const };
  one.events.push({ ...first(one.events), type: 'run.repaired', data } as LoggedEvent);
  expect(notRepaired(found, noRepairs).wrong).toHaveLength(1);
});

test('a log with a flood, or with arguments of commands, is caught', () => {
  const line = (time: number, more = '') =>
    JSON.stringify({ pid: 1, time, msg: 'queue worker error', err: { message: `READONLY${more}` } });
  const text = (lines: string[]) => new Map([['worker-1.log', `${lines.join('\n')}\n`]]);
  const slow = Array.from({ length: 100 }, (_, index) => line(index * 1000));
  expect(logsBounded(text(slow)).wrong).toEqual([]);
  expect(logsBounded(text(Array.from({ length: 100 }, (_, index) => line(index)))).wrong).toHaveLength(1);
  expect(logsBounded(text([line(0, 'x'.repeat(30_000))])).wrong).toHaveLength(1);
});

test('a thread with too long a computation is caught, a thread with only a wait is not', () => {
  const line = (late_ms: number, busy_ms: number, { seconds = 60, running = ['run_1/step_1'] } = {}) =>
    [
      { time: 1_000_000, msg: 'starting' },
      { time: 1_000_000 + seconds * 1000, event: 'loop_late', late_ms, busy_ms, running, msg: 'blocked' },
    ]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join('');
  expect(loopsFree(new Map([['worker-1.log', line(9000, 12)]]), 1).wrong).toEqual([]);
  // A starting process compiles its code.
  expect(loopsFree(new Map([['worker-1.log', line(400, 380, { seconds: 5, running: [] })]]), 1).wrong).toEqual([]);
  for (const when of [{ seconds: 5 }, { running: [] }]) {
    expect(loopsFree(new Map([['worker-1.log', line(400, 380, when)]]), 1).wrong).toHaveLength(1);
  }
  expect(loopsFree(new Map([['worker-1.log', line(400, 240)]]), 2.5).wrong).toEqual([]);
  expect(loopsFree(new Map([['worker-1.log', line(400, 260)]]), 2.5).wrong).toHaveLength(1);
  expect(loopsFree(new Map([['worker-1.log', line(400, 380)]]), 1).wrong).toEqual([
    'worker-1.log: computed for 380 of 400 ms: ["run_1/step_1"]',
  ]);
});

test.each([
  ['no measurement', [], 1],
  ['a quiet machine', [15, 16, 17, 16], 1],
  ['a faster machine', [8, 8, 9, 8], 1],
  ['neighbours for a third of the time', [16, 16, 32, 16, 32, 32], 2],
  ['one stop in many measurements', [16, 16, 16, 900, 16, 16, 16, 16], 1],
  ['a machine that is too slow to judge on', [900, 900], 4],
])('%s gives its slowness', (_, taken, slowness) => {
  expect(slownessOf(taken)).toBeCloseTo(slowness, 0);
});
