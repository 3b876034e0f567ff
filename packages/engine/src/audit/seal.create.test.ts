import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditRecord } from '@holdpoint/contract';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { decideApproval, listApprovals } from '../approvals/index.ts';
import { requestCancel, requestPublication } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { readLog } from '../log/read-log.ts';
import { readRecords, sealAll } from '../testing/audited.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { type AuditDeps, openAuditWriter, recordEntry } from './audit-writer.ts';
import { verifyAudit } from './open-audit.ts';
import { ChainMoved } from './open-chain.ts';

let engine: TestEngine;
let dataDir: string;
let deps: AuditDeps;
beforeAll(async () => {
  engine = await startTestEngine();
});
beforeEach(async () => {
  await engine.deps.redis.flushall();
  dataDir = await mkdtemp(join(engine.directory, 'data-'));
  deps = { ...engine.deps, dataDir, redact: (text) => text };
  return () => rm(dataDir, { recursive: true });
});
afterAll(() => engine.stop());

const read = { args: { effect: 'read' } };
const write = { args: { effect: 'workspace' } };
const hold = { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold', reason: 'writes wait' }] } };

async function runOf(groups: Parameters<typeof specOf>[0], more: object = {}) {
  const worker = inMemoryWorker(engine);
  const { runId } = await submitRun(worker.deps, { spec: specOf(groups, more), by: 'ada' });
  await deliverAll(worker.deps);
  return { runId, worker };
}

async function decide(worker: ReturnType<typeof inMemoryWorker>, decision: 'approve' | 'reject') {
  const { items } = await listApprovals(worker.deps, {}, { limit: 1 });
  const [view] = items;
  const request = { decision, action_digest: view?.digest ?? '', by: 'grace', message: 'seen' };
  await decideApproval(worker.deps, view?.approval.id ?? '', request);
  await deliverAll(worker.deps);
}

const ofKind = <Kind extends AuditRecord['kind']>(records: AuditRecord[], kind: Kind) =>
  records.filter((record): record is Extract<AuditRecord, { kind: Kind }> => record.kind === kind);

/** Every event of the run is in exactly one range. */
async function expectCovered(runId: string, records: AuditRecord[]): Promise<void> {
  const ranges = records.flatMap(({ log }) => (log?.run_id === runId ? [[log.from, log.to]] : []));
  expect(ranges.map(([from]) => from)).toEqual([1, ...ranges.slice(0, -1).map(([, to]) => (to ?? 0) + 1)]);
  expect(ranges.at(-1)?.[1]).toBe((await readLog(engine.deps.redis, runId)).length);
}

test('seals one record per call, with who, what, verdict, times and outcome', async () => {
  const { runId } = await runOf([[read, read], [write], [{ args: { effect: 'read', fail: true } }]]);
  await sealAll(deps);
  const records = await readRecords(dataDir);
  const calls = ofKind(records, 'call');
  expect(calls.map(({ outcome }) => outcome.status)).toEqual(['succeeded', 'succeeded', 'succeeded', 'failed']);
  expect(calls[2]).toMatchObject({
    ...{ v: 1, tenant: 'default', run_id: runId, submitted_by: { name: 'ada' }, tool: 'count', toolset: 'test' },
    ...{ effect: 'workspace', risk: 'low', event: 'step.succeeded' },
    args: { digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), text: '{"effect":"workspace"}', bytes: 22 },
    verdict: { action: 'allow' },
    attempts: [{ attempt: 1, worker: 'test-worker' }],
    snapshot: { before: '0'.repeat(40), after: expect.not.stringMatching(/^0+$/) },
    outcome: { result: { digest: expect.stringMatching(/^sha256:/) } },
  });
  expect(calls[3]?.outcome.error).toEqual({ code: 'EASKED', message: 'asked to fail' });
  expect(records.map(({ kind }) => kind)).toEqual(['run', 'call', 'call', 'call', 'call', 'run']);
  await expectCovered(runId, records);
  expect(await verifyAudit(deps)).toMatchObject({ ok: true, records: 6, runs: 1, events: { unsealed: 0 } });
});

test('seals requests and decisions of approvals, denials, and a publish', async () => {
  const { runId, worker } = await runOf([[write]], hold);
  await sealAll(deps);
  expect(ofKind(await readRecords(dataDir), 'approval')).toMatchObject([{ status: 'pending', reason: 'writes wait' }]);
  await decide(worker, 'approve');
  await requestPublication(worker.deps, runId, { message: 'm', by: 'linus' });
  await deliverAll(worker.deps);
  await sealAll(deps);
  const records = await readRecords(dataDir);
  const [, decided] = ofKind(records, 'approval');
  expect(decided).toMatchObject({
    status: 'approved',
    decision: 'approve',
    decided_by: { name: 'grace' },
    message: 'seen',
  });
  expect(decided?.action_digest).toMatch(/^sha256:/);
  expect(ofKind(records, 'call')).toMatchObject([
    { verdict: { action: 'hold' }, approvals: [{ status: 'approved', action_digest: decided?.action_digest }] },
  ]);
  expect(ofKind(records, 'publish')).toMatchObject([{ status: 'published', requested_by: { name: 'linus' } }]);
  await expectCovered(runId, records);

  await runOf([[write]], { policy: { rules: [{ match: { effect: 'workspace' }, action: 'deny', reason: 'never' }] } });
  await sealAll(deps);
  expect(ofKind(await readRecords(dataDir), 'call').at(-1)).toMatchObject({
    verdict: { action: 'deny' },
    attempts: [],
    outcome: { status: 'rejected', error: { code: 'EPERMISSION' } },
  });
  expect((await verifyAudit(deps)).ok).toBe(true);
});

test('seals a canceled approval, and the end of a run without a decision', async () => {
  const { runId, worker } = await runOf([[write]], hold);
  await requestCancel(worker.deps, runId, { by: 'grace' });
  await deliverAll(worker.deps);
  await sealAll(deps);
  const records = await readRecords(dataDir);
  expect(ofKind(records, 'approval').map(({ status }) => status)).toEqual(['pending', 'canceled']);
  expect(ofKind(records, 'run').find(({ event }) => event === 'run.canceling')).toMatchObject({
    by: { name: 'grace' },
  });
  expect(ofKind(records, 'call')).toMatchObject([{ outcome: { status: 'canceled' } }]);
  await expectCovered(runId, records);
});

test('redacts secrets before it cuts long arguments, and says that they are cut', async () => {
  const secret = 'hunter2';
  deps = { ...deps, redact: (text) => text.replaceAll(secret, '[redacted]') };
  // The cut is in the middle of the secret.
  const long = `${'x'.repeat(3970)}${secret}${'y'.repeat(9000)}`;
  await runOf([[{ args: { effect: 'read', text: long } }], [{ args: { effect: 'read', text: 'z'.repeat(40_000) } }]]);
  await sealAll(deps);
  const [first, second] = ofKind(await readRecords(dataDir), 'call');
  expect(first?.args).toMatchObject({ cut: true });
  expect(first?.args.bytes).toBeGreaterThan(12_000);
  expect(JSON.stringify(await readRecords(dataDir))).not.toContain('hunter');
  expect(second?.args).toMatchObject({ cut: true, text: expect.stringMatching(/^{"/) });
});

test('seals the end of a background command and of a sub-agent', async () => {
  const agent = { groups: [{ steps: [{ tool: 'count', args: { effect: 'read' } }] }] };
  const { runId } = await runOf([
    [{ args: { effect: 'workspace', background: 'sleep' } }],
    [{ args: { effect: 'workspace', agent } }],
  ]);
  await sealAll(deps);
  const records = await readRecords(dataDir);
  const tasks = ofKind(records, 'task');
  expect(tasks.map(({ about, status }) => `${about} ${status}`).sort()).toEqual(['agent completed', 'shell completed']);
  const calls = ofKind(records, 'call').filter(({ run_id }) => run_id === runId);
  expect(calls.flatMap(({ tasks: started = [] }) => started)).toHaveLength(2);
  await expectCovered(runId, records);
  expect((await verifyAudit(deps)).ok).toBe(true);
});

test('adds nothing when nothing is new, and continues a run where it was', async () => {
  const { runId, worker } = await runOf([[read], [write], [read]], hold);
  await sealAll(deps);
  const before = await readRecords(dataDir);
  await sealAll(deps);
  expect(await readRecords(dataDir)).toEqual(before);
  expect((await verifyAudit(deps)).events.unsealed).toBeGreaterThan(0);
  await decide(worker, 'reject');
  await sealAll(deps);
  const records = await readRecords(dataDir);
  expect(records.slice(0, before.length)).toEqual(before);
  await expectCovered(runId, records);
});

test('seals changes outside of runs once', async () => {
  const entry = { id: 'chg_1', time: new Date().toISOString(), by: { name: 'ada', kind: 'person' as const } };
  await recordEntry(deps, { ...entry, subject: 'policy/default', action: 'changed', detail: { version: 2 } });
  await sealAll(deps);
  await sealAll(deps);
  expect(await readRecords(dataDir)).toMatchObject([
    {
      kind: 'change',
      entry_id: 'chg_1',
      subject: 'policy/default',
      action: 'changed',
      detail: { text: '{"version":2}' },
    },
  ]);
});

test('continues in another file when one is full, with modes that close it to others', async () => {
  await runOf([[read], [read], [read]]);
  deps = { ...deps, segmentBytes: 1 };
  await sealAll(deps);
  await runOf([[read]]);
  await sealAll(deps);
  const files = await readdir(join(dataDir, 'audit'));
  expect(files).toEqual(['000000000001.jsonl', '000000000006.jsonl']);
  expect((await stat(join(dataDir, 'audit'))).mode & 0o777).toBe(0o700);
  for (const file of files) expect((await stat(join(dataDir, 'audit', file))).mode & 0o777).toBe(0o600);
  expect(await verifyAudit(deps)).toMatchObject({ ok: true, records: 8 });
});

test('refuses the records of a writer that another one has overtaken', async () => {
  const signal = new AbortController().signal;
  const { runId, worker } = await runOf([[write]], hold);
  const first = await openAuditWriter(deps);
  await first.seal([runId], signal);
  await decide(worker, 'approve');
  await sealAll(deps);
  const records = await readRecords(dataDir);
  await expect(first.seal([runId], signal)).rejects.toThrow(ChainMoved);
  expect(await readRecords(dataDir)).toEqual(records);
  expect(await verifyAudit(deps)).toMatchObject({ ok: true, records: records.length });
});
