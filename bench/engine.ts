/**
 * The cost of durability against BullMQ alone on the same Redis (`appendfsync always`), in one run: sequential no-op steps against
 * sequential jobs, steps against jobs per second at several concurrencies, the fsyncs, messages and CPU of each, and the cost of a late
 * step in a long run.
 */
import { tmpdir } from 'node:os';
import { connect } from '@holdpoint/engine/redis';
import {
  inMemoryWorker,
  logKey,
  readLog,
  specOf,
  startTestEngine,
  stateKey,
  submitRun,
} from '@holdpoint/engine/testing';
import { startQueueWorkers } from '@holdpoint/runtime';
import { Redis } from 'ioredis';
import pino from 'pino';
import { openBareJobs } from './bare-jobs.ts';
import { countingCalls } from './counting-calls.ts';
import { judged, mean, median, say, spread } from './figures.ts';
import { countSyncs, redisWork } from './redis-work.ts';

const engine = await startTestEngine({ parent: tmpdir() });
const { deps, called } = countingCalls(inMemoryWorker(engine).deps);
const connections = connect(engine.address, pino({ level: 'silent' }));
const config = {
  steps: 40,
  turns: 40,
  runs: 80,
  tasks: 1,
  lockMs: 13_000,
  stalledMs: 5000,
  sweepMs: 5000,
  drainMs: 1000,
  maintenanceMs: 86_400_000,
  dataDir: engine.directory,
};
const workers = await startQueueWorkers({ deps, connections, config });
// As a user of BullMQ opens them. Holdpoint's own connections send several commands in one write: jobs become faster as well.
const plain = [new Redis(engine.address), new Redis(engine.address, { maxRetriesPerRequest: null })] as const;
const bare = await openBareJobs('floor', { queue: plain[0], worker: plain[1] });
const shared = await openBareJobs('shared', { queue: connections.state, worker: connections.worker() });

type Effect = 'read' | 'workspace';

/** A run of sequential steps, from its first turn to its end. */
async function oneRun(steps: number, effect: Effect = 'read'): Promise<string> {
  const plan = Array.from({ length: steps }, () => [{ args: { effect } }]);
  const { runId } = await submitRun(deps, { spec: specOf(plan), by: 'bench' });
  // To ask Redis all the time would cost as much as the steps.
  await called(runId, steps);
  for (;;) {
    const status = await deps.redis.hget(stateKey(runId), 'status');
    if (status === 'succeeded') return runId;
    if (status === 'failed' || status === 'paused') throw new Error(`the run ${runId} ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
const manyRuns = (runs: number, steps: number, effect: Effect = 'read') =>
  Promise.all(Array.from({ length: runs }, () => oneRun(steps, effect)));

/** Milliseconds between the ends of consecutive steps according to the log, without the first. */
async function stepTimes(runId: string): Promise<number[]> {
  const ends = (await readLog(deps.redis, runId, { limit: 100_000 }))
    .filter(({ type }) => type === 'step.succeeded')
    .map(({ time }) => Date.parse(time));
  return ends.slice(1).map((end, index) => end - (ends[index] ?? end));
}

async function timed(units: number, act: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await act();
  return (performance.now() - from) / units;
}

await manyRuns(10, 30);
await oneRun(30, 'workspace');
for (const jobs of [bare, shared]) await jobs.many(300, 10);

const rounds = 12;
const each = 40;
say(`sequential, ms: ${rounds} rounds of ${each} of each kind, alternating`);
const times = { job: [] as number[], read: [] as number[], write: [] as number[] };
for (let round = 0; round < rounds; round++) {
  times.read.push(mean(await stepTimes(await oneRun(each + 1))));
  times.job.push(await timed(each, () => bare.many(each, 1)));
  times.write.push(mean(await stepTimes(await oneRun(each + 1, 'workspace'))));
}
const over = (kind: number[]): number[] => kind.map((ms, round) => ms / (times.job[round] ?? Number.NaN));
say(`  BullMQ job alone       ${spread(times.job)}`);
say(`  durable step, reads    ${spread(times.read)}; ratio ${judged(over(times.read), { atMost: 1.1 })}`);
say(
  `  durable step, writes   ${spread(times.write)}; ratio ${spread(over(times.write))}: its start is on disk before it begins`,
);

say('parallel, per second: runs of 12 steps each, and as many jobs in flight; 5 rounds');
for (const concurrency of [1, 10, 40]) {
  const runs = concurrency === 1 ? 4 : concurrency;
  const rates = { steps: [] as number[], jobs: [] as number[], shared: [] as number[] };
  for (let round = 0; round < 5; round++) {
    const count = Math.max(200, concurrency * 25);
    const stepMs =
      concurrency === 1
        ? await timed(runs * 12, async () => {
            for (let n = 0; n < runs; n++) await oneRun(12);
          })
        : await timed(runs * 12, () => manyRuns(runs, 12));
    rates.steps.push(1000 / stepMs);
    rates.jobs.push(1000 / (await timed(count, () => bare.many(count, concurrency))));
    rates.shared.push(1000 / (await timed(count, () => shared.many(count, concurrency))));
  }
  const ratios = rates.steps.map((rate, round) => rate / (rates.jobs[round] ?? Number.NaN));
  const all = [spread(rates.steps, 0), spread(rates.jobs, 0), spread(rates.shared, 0)] as const;
  say(
    `  ${String(concurrency).padStart(2)}: ${all[0]} steps, ${all[1]} jobs, ${all[2]} jobs on Holdpoint's connections`,
  );
  say(`      ratio ${concurrency === 40 ? judged(ratios, { atLeast: 1 }) : spread(ratios)}`);
}

say('what one costs: CPU of this process and of Redis (ms), messages to Redis, fsyncs (by strace)');
const kinds: [name: string, units: number, act: () => Promise<unknown>][] = [
  ['job', 300, () => bare.many(300, 1)],
  ['step that reads', 300, () => oneRun(300)],
  ['step that writes', 300, () => oneRun(300, 'workspace')],
  ['job, 40 at once', 1200, () => bare.many(1200, 40)],
  ['step that reads, 40 at once', 1200, () => manyRuns(40, 30)],
  ['step that writes, 40 at once', 1200, () => manyRuns(40, 30, 'workspace')],
];
for (const [name, units, act] of kinds) {
  const work = [];
  for (let round = 0; round < 3; round++) work.push(await redisWork(deps.redis, units, act));
  const syncs = await countSyncs(deps.redis, act);
  const own = median(work.map(({ ownMs }) => ownMs)).toFixed(2);
  const server = median(work.map(({ serverMs }) => serverMs)).toFixed(2);
  const messages = median(work.map((one) => one.messages)).toFixed(1);
  const waits = syncs === undefined ? 'not counted' : (syncs / units).toFixed(2);
  say(`  ${name.padEnd(28)} CPU ${own} + ${server}, messages ${messages}, fsyncs ${waits}`);
}

say('growth: three runs of 500 steps');
const growth: number[] = [];
let long = '';
for (let round = 0; round < 3; round++) {
  long = await oneRun(500);
  const times = await stepTimes(long);
  // The log has whole milliseconds, so these are means of fifty steps.
  const early = mean(times.slice(4, 54));
  const late = mean(times.slice(-50));
  growth.push(late / early);
  say(`  ms per step at 5-55: ${early.toFixed(2)}, at 450-500: ${late.toFixed(2)}: ${(late / early).toFixed(2)}x`);
}
say(`  ${judged(growth, { atMost: 1.3 })}`);
const events = await readLog(deps.redis, long, { limit: 100_000 });
const bytesUpTo = (step: number): number => {
  const at = events.filter(({ type }) => type === 'step.succeeded')[step - 1]?.seq ?? 0;
  return events.slice(0, at).reduce((sum, event) => sum + JSON.stringify(event).length, 0);
};
const perStep = [100, 300, 500].map((step) => bytesUpTo(step) / step);
say(
  `  bytes of log per step, up to step 100, 300, 500: ${perStep.map((bytes) => bytes.toFixed(0)).join(', ')} (linear growth: constant)`,
);
const memory = await Promise.all(
  [logKey(long), stateKey(long)].map((key) => deps.redis.memory('USAGE', key, 'SAMPLES', 0)),
);
say(`  memory in Redis: log ${memory[0]} bytes, state ${memory[1]} bytes`);

await workers.drain(1000);
await Promise.all([bare.close(), shared.close()]);
for (const redis of plain) redis.disconnect();
await connections.close();
await engine.stop();
process.exit(0);
