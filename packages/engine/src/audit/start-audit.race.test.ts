import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { auditChannel } from '../log/keys.ts';
import { readLog } from '../log/read-log.ts';
import { connect } from '../redis/connect.ts';
import { readRecords } from '../testing/audited.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { startAudit } from './audit-writer.ts';
import { openAudit } from './open-audit.ts';

const program = fileURLToPath(new URL('../testing/audit-until-killed.ts', import.meta.url));
let engine: TestEngine;
let dataDir: string;
beforeAll(async () => {
  engine = await startTestEngine();
});
beforeEach(async () => {
  await engine.deps.redis.flushall();
  dataDir = await mkdtemp(join(engine.directory, 'data-'));
  return () => rm(dataDir, { recursive: true });
});
afterAll(() => engine.stop());

async function addRun(): Promise<string> {
  const worker = inMemoryWorker(engine);
  const { runId } = await submitRun(worker.deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'ada' });
  await deliverAll(worker.deps);
  return runId;
}

const audit = () => openAudit({ redis: engine.deps.redis, dataDir });
const sealed = async (runId: string): Promise<boolean> => {
  const last = (await readRecords(dataDir)).findLast(({ log }) => log?.run_id === runId)?.log?.to;
  return last === (await readLog(engine.deps.redis, runId)).length;
};
const expectSealed = (runId: string) => expect.poll(() => sealed(runId), { timeout: 60_000 }).toBe(true);

/** Exactly one process listens: the writer. */
const listeners = async (): Promise<number> => {
  const [, count] = (await engine.deps.redis.pubsub('NUMSUB', auditChannel)) as [string, number];
  const patterns = Number(await engine.deps.redis.pubsub('NUMPAT'));
  return Number(count) + patterns;
};

test('seals what happens while it runs, and what happened before', async () => {
  const before = await addRun();
  const connections = connect(engine.address, engine.deps.logger);
  const writer = startAudit({ ...engine.deps, subscriber: connections.subscriber, dataDir, everyMs: 10 });
  await expectSealed(before);
  const during = await addRun();
  await expectSealed(during);
  await audit().record({
    id: 'c1',
    time: new Date().toISOString(),
    by: { name: 'ada' },
    subject: 'key/x',
    action: 'created',
  });
  await expect.poll(async () => (await readRecords(dataDir)).at(-1)?.kind, { timeout: 30_000 }).toBe('change');
  await writer.stop();
  await connections.close();
  expect(await audit().verify()).toMatchObject({ ok: true, runs: 2, events: { unsealed: 0 } });
});

test('a change that is recorded again after a crash has one record', async () => {
  const connections = connect(engine.address, engine.deps.logger);
  const entry = (id: string) => ({
    ...{ id, time: new Date().toISOString(), by: { name: 'ada' }, subject: `mcp/${id}`, action: 'accepted' },
  });
  await Promise.all(['c1', 'c1', 'c2', 'c1'].map((id) => audit().recordOnce(entry(id))));
  const writer = startAudit({ ...engine.deps, subscriber: connections.subscriber, dataDir, everyMs: 10 });
  await audit().recordOnce(entry('c2'));
  await audit().recordOnce(entry('last'));
  const subjects = async () =>
    (await readRecords(dataDir)).flatMap((record) => (record.kind === 'change' ? [record.subject] : []));
  await expect.poll(async () => (await subjects()).at(-1), { timeout: 30_000 }).toBe('mcp/last');
  expect((await subjects()).sort()).toEqual(['mcp/c1', 'mcp/c2', 'mcp/last']);
  await writer.stop();
  await connections.close();
});

test('one of several processes writes, and another takes over when it is killed', { timeout: 180_000 }, async () => {
  const children: ChildProcess[] = [];
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program, engine.address, dataDir], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.push(child);
    await once(child, 'message');
    return child;
  };
  try {
    const runs = [await addRun()];
    const first = await start();
    await expectSealed(runs[0] ?? '');
    await start();
    await start();
    for (let n = 0; n < 5; n++) runs.push(await addRun());
    await expectSealed(runs.at(-1) ?? '');
    // Two patterns: for the notifications, and for the entries.
    expect(await listeners()).toBe(2);
    first.kill('SIGKILL');
    await once(first, 'exit');
    for (let n = 0; n < 5; n++) runs.push(await addRun());
    for (const runId of runs) await expectSealed(runId);
    const seqs = (await readRecords(dataDir)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(await audit().verify()).toMatchObject({ ok: true, runs: 11, events: { unsealed: 0 } });
  } finally {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
  }
});

test('two frozen writers that wake up add nothing twice', { timeout: 180_000 }, async () => {
  const run = async (writer: ChildProcess) => {
    await once(writer, 'message');
    return writer;
  };
  const begin = () =>
    run(
      spawn(process.execPath, [program, engine.address, dataDir], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    );
  const first = await begin();
  const second = await begin();
  const end = async (child: ChildProcess): Promise<void> => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
  try {
    const runs = [await addRun()];
    await expectSealed(runs[0] ?? '');
    first.kill('SIGSTOP');
    runs.push(await addRun());
    await expectSealed(runs[1] ?? '');
    first.kill('SIGCONT');
    second.kill('SIGSTOP');
    runs.push(await addRun());
    await expectSealed(runs[2] ?? '');
    second.kill('SIGCONT');
    runs.push(await addRun());
    await expectSealed(runs[3] ?? '');
  } finally {
    for (const child of [first, second]) child.kill('SIGCONT');
    await end(first);
    await end(second);
  }
  expect(await audit().verify()).toMatchObject({ ok: true, runs: 4, events: { unsealed: 0 } });
});
