import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { decideApproval, listApprovals } from '../approvals/index.ts';
import { submitRun } from '../commands/submit-run.ts';
import { auditCursorsKey, auditHeadKey } from '../log/keys.ts';
import { readLog } from '../log/read-log.ts';
import { readRecords, sealAll } from '../testing/audited.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { copyOf } from '../testing/lagging-copy.ts';
import { type AuditDeps, openAuditWriter } from './audit-writer.ts';
import { verifyAudit } from './open-audit.ts';
import { listSegments } from './segments.ts';

const program = fileURLToPath(new URL('../testing/seal-and-stop.ts', import.meta.url));
let engine: TestEngine;
let dataDir: string;
let deps: AuditDeps;
let errors: string[];
beforeAll(async () => {
  engine = await startTestEngine();
});
beforeEach(async () => {
  await engine.deps.redis.flushall();
  dataDir = await mkdtemp(join(engine.directory, 'data-'));
  errors = [];
  const logger = { ...engine.deps.logger, error: (_fields: object, message: string) => void errors.push(message) };
  deps = { ...engine.deps, logger: logger as AuditDeps['logger'], dataDir, redact: (text) => text };
  return () => rm(dataDir, { recursive: true });
});
afterAll(() => engine.stop());

const steps = [[{ args: { effect: 'read' } }], [{ args: { effect: 'workspace' } }]];
const hold = { rules: [{ match: { effect: 'workspace' as const }, action: 'hold' as const }] };

async function addRun(policy: object = {}): Promise<string> {
  const worker = inMemoryWorker(engine);
  const { runId } = await submitRun(worker.deps, { spec: specOf(steps, { policy }), by: 'ada' });
  await deliverAll(worker.deps);
  return runId;
}

async function approveAll(): Promise<void> {
  const worker = inMemoryWorker(engine);
  const { items } = await listApprovals(worker.deps, {}, { limit: 100 });
  for (const { approval, digest } of items) {
    await decideApproval(worker.deps, approval.id, { decision: 'approve', action_digest: digest, by: 'grace' });
  }
  await deliverAll(worker.deps);
}

/** Every event of every run is in one record, and no call or decision in two. */
async function expectSealedOnce(runIds: string[]): Promise<void> {
  const records = await readRecords(dataDir);
  expect(await verifyAudit(deps)).toMatchObject({ ok: true, events: { unsealed: 0 } });
  for (const runId of runIds) {
    const events = await readLog(engine.deps.redis, runId);
    const settled = events.filter(({ type }) => /^step\.(succeeded|failed|rejected)$/.test(type));
    const calls = records.filter((record) => record.kind === 'call' && record.run_id === runId);
    expect(calls).toHaveLength(settled.length);
    const ranges = records.flatMap(({ log }) => (log?.run_id === runId ? [[log.from, log.to]] : []));
    expect(ranges.flat()).toEqual([1, ...ranges.slice(0, -1).flatMap(([, to = 0]) => [to, to + 1]), events.length]);
  }
}

/** Kills a writer at its n-th script. @returns false when the writer had fewer scripts */
async function killAt(n: number, when: 'before' | 'after'): Promise<boolean> {
  const child = spawn(process.execPath, [program, engine.address, dataDir, String(n), when], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const stopped = await Promise.race([once(child, 'message').then(() => true), exited.then(() => false)]);
  if (stopped) child.kill('SIGKILL');
  await exited;
  return stopped;
}

test('seals everything once, wherever a writer is killed', { timeout: 300_000 }, async () => {
  const runIds = [await addRun(), await addRun()];
  let kills = 0;
  for (const when of ['before', 'after'] as const) {
    for (let n = 1; ; n++) {
      await engine.deps.redis.del(auditHeadKey, auditCursorsKey, 'hp:{audit}:pending');
      await rm(join(dataDir, 'audit'), { recursive: true, force: true });
      if (!(await killAt(n, when))) break;
      kills += 1;
      // The second writer is killed, too, at its first script.
      if (when === 'after') await killAt(1, when);
      await sealAll(deps);
      await expectSealedOnce(runIds);
    }
  }
  // Two scripts per batch, one batch per run.
  expect(kills).toBe(8);
});

test('completes a batch that is torn at any byte, or ends in zeros', async () => {
  const runIds = [await addRun()];
  await sealAll(deps);
  runIds.push(await addRun());
  expect(await killAt(2, 'before')).toBe(true);
  const file = join(dataDir, 'audit', (await listSegments(dataDir))[0] ?? '');
  const whole = (await stat(file)).size;
  const copy = await copyOf(engine.deps.redis);
  const sealed = JSON.parse((await engine.deps.redis.get(auditHeadKey)) ?? '').end as number;
  for (const size of [sealed, sealed + 1, sealed + 200, whole - 1, whole]) {
    for (const zeros of [0, 100]) {
      await copy.restore();
      await truncate(file, size);
      await appendFile(file, Buffer.alloc(Math.min(zeros, whole - size)));
      // The written part of the batch is no finding during the writing.
      if (zeros === 0) expect((await verifyAudit(deps)).ok).toBe(true);
      await sealAll(deps);
      await expectSealedOnce(runIds);
    }
  }
  expect(errors).toEqual([]);
});

test('says which events are lost when Redis went back, and continues', async () => {
  const held = await addRun(hold);
  await sealAll(deps);
  const earlier = await copyOf(engine.deps.redis);
  const later = await addRun();
  await approveAll();
  await sealAll(deps);
  const before = await readRecords(dataDir);
  await earlier.restore();
  expect(await verifyAudit(deps)).toMatchObject({
    ok: false,
    findings: expect.arrayContaining([
      expect.objectContaining({ code: 'redis_went_back' }),
      expect.objectContaining({ code: 'event_missing', run_id: held }),
    ]),
  });

  await approveAll();
  const counted: number[] = [];
  await sealAll({ ...deps, onLosses: (runs) => counted.push(runs) });
  await sealAll({ ...deps, onLosses: (runs) => counted.push(runs) });
  expect(counted).toEqual([2]);
  const records = await readRecords(dataDir);
  expect(records.slice(0, before.length)).toEqual(before);
  expect(errors).toEqual([expect.stringContaining('Redis is an older copy')]);
  const losses = records.filter((record) => record.kind === 'loss');
  expect(losses.map(({ run_id }) => run_id).sort()).toEqual([held, later].sort());
  const report = await verifyAudit(deps);
  expect(report.findings).toHaveLength(2);
  for (const finding of report.findings) expect(finding).toMatchObject({ code: 'redis_went_back' });
  expect(report.events.unsealed).toBe(0);
});

test('knows its records again when only Redis forgot that they were sealed', async () => {
  const runIds = [await addRun()];
  const earlier = await copyOf(engine.deps.redis);
  await sealAll(deps);
  const before = await readRecords(dataDir);
  await earlier.restore();
  await sealAll(deps);
  expect(await readRecords(dataDir)).toEqual(before);
  runIds.push(await addRun());
  await sealAll(deps);
  await expectSealedOnce(runIds);
});

test.each([
  ['was cut', (file: string) => truncate(file, 900)],
  ['is gone', (file: string) => rm(file)],
  ['has a line more', (file: string) => appendFile(file, 'x\n')],
])('continues in another file when one %s, and the finding stays', async (_name, change) => {
  await addRun();
  await sealAll(deps);
  const [name = ''] = await listSegments(dataDir);
  await change(join(dataDir, 'audit', name));
  const evidence = await readFile(join(dataDir, 'audit', name)).catch(() => undefined);
  const { findings } = await verifyAudit(deps);
  expect(findings).not.toEqual([]);
  const runId = await addRun();
  await sealAll(deps);
  expect(await readFile(join(dataDir, 'audit', name)).catch(() => undefined)).toEqual(evidence);
  const report = await verifyAudit(deps);
  expect(report.findings.map(({ code }) => code)).toEqual(expect.arrayContaining(findings.map(({ code }) => code)));
  expect(await engine.deps.redis.hget(auditCursorsKey, runId)).toBe(
    `${(await readLog(engine.deps.redis, runId)).length}`,
  );
  expect((await listSegments(dataDir)).at(-1)).not.toBe(name);
});

test('the log of a run that is sealed to its end is not read again', async () => {
  const runId = await addRun();
  const writer = await openAuditWriter(deps);
  const { signal } = new AbortController();
  await writer.seal([runId], signal);
  using reads = vi.spyOn(deps.redis, 'xrangeBuffer');
  await writer.seal([runId], signal);
  expect(reads).not.toHaveBeenCalled();
  await expectSealedOnce([runId]);
});
