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
/**
 * What durability costs against BullMQ alone on the same Redis (`appendfsync always`), in one run: sequential no-op steps against sequential
 * jobs, steps against jobs per second at several concurrencies, and whether a step costs more late in a long run.
 */
import { Queue, Worker } from 'bullmq';
import pino from 'pino';

const engine = await startTestEngine({ parent: tmpdir() });
const { deps } = inMemoryWorker(engine);
const connections = connect(engine.address, pino({ level: 'silent' }));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const read = { args: { effect: 'read' } };

const config = {
  steps: 40,
  turns: 40,
  tasks: 1,
  lockMs: 13_000,
  stalledMs: 5000,
  sweepMs: 5000,
  drainMs: 1000,
  maintenanceMs: 86_400_000,
  dataDir: engine.directory,
};
const workers = await startQueueWorkers({ deps, connections, config });

const done = new Map<string, () => void>();
const queue = new Queue('floor', { connection: connections.state, prefix: '{floor}' });
const floor = new Worker('floor', async () => {}, {
  connection: connections.worker(),
  prefix: '{floor}',
  concurrency: 40,
  lockDuration: 13_000,
  stalledInterval: 5000,
  removeOnComplete: { count: 0 },
});
floor.on('completed', ({ id }) => done.get(String(id))?.());
await floor.waitUntilReady();

/** One job, from adding it to the event that it is completed. */
async function oneJob(): Promise<void> {
  const job = await new Promise<void>((resolve, reject) => {
    const id = `job-${serial++}`;
    done.set(id, () => {
      done.delete(id);
      resolve();
    });
    queue.add('job', { run_id: id, step_id: id }, { jobId: id, attempts: 8, removeOnComplete: true }).catch(reject);
  });
  return job;
}
let serial = 0;

/** A run of sequential steps, from its first turn to its end. */
async function oneRun(steps: number): Promise<string> {
  const { runId } = await submitRun(deps, { spec: specOf(Array.from({ length: steps }, () => [read])), by: 'bench' });
  for (;;) {
    const status = await deps.redis.hget(stateKey(runId), 'status');
    if (status === 'succeeded') return runId;
    if (status === 'failed' || status === 'paused') throw new Error(`the run ${runId} ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Milliseconds between the ends of consecutive steps according to the log, without the first. */
async function stepTimes(runId: string): Promise<number[]> {
  const ends = (await readLog(deps.redis, runId, { limit: 100_000 }))
    .filter(({ type }) => type === 'step.succeeded')
    .map(({ time }) => Date.parse(time));
  return ends.slice(1).map((end, index) => end - (ends[index] ?? end));
}

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const judge = (holds: boolean): string => (holds ? 'met' : 'MISSED');

await oneRun(20);
for (let n = 0; n < 100; n++) await oneJob();

say('sequential: 8 rounds of 40 steps and 40 jobs, alternating');
const [steps, jobs] = [[], []] as [number[], number[]];
for (let round = 0; round < 8; round++) {
  steps.push(...(await stepTimes(await oneRun(41))));
  for (let n = 0; n < 40; n++) {
    const from = performance.now();
    await oneJob();
    jobs.push(performance.now() - from);
  }
}
const latency = mean(steps) / mean(jobs);
say(
  `  BullMQ job alone    mean ${mean(jobs).toFixed(2)} ms, p50 ${quantile(jobs, 0.5).toFixed(2)}, p99 ${quantile(jobs, 0.99).toFixed(2)}`,
);
say(
  `  durable step        mean ${mean(steps).toFixed(2)} ms, p50 ${quantile(steps, 0.5)}, p99 ${quantile(steps, 0.99)} (the log's clock: whole ms)`,
);
say(`  ratio of means ${latency.toFixed(2)}x; target at most 2x: ${judge(latency <= 2)}`);

say('parallel: runs of 12 steps each, and as many jobs in flight');
for (const concurrency of [1, 10, 40]) {
  const perRun = 12;
  const rates = { steps: [] as number[], jobs: [] as number[] };
  for (let round = 0; round < 3; round++) {
    const runs = concurrency === 1 ? 4 : concurrency;
    let from = performance.now();
    if (concurrency === 1) for (let n = 0; n < runs; n++) await oneRun(perRun);
    else await Promise.all(Array.from({ length: runs }, () => oneRun(perRun)));
    rates.steps.push((runs * perRun * 1000) / (performance.now() - from));
    let left = Math.max(200, concurrency * 25);
    const all = left;
    from = performance.now();
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (left-- > 0) await oneJob();
      }),
    );
    rates.jobs.push((all * 1000) / (performance.now() - from));
  }
  const ratio = mean(rates.steps) / mean(rates.jobs);
  const target = concurrency === 40 ? `; target at least 0.5x: ${judge(ratio >= 0.5)}` : '';
  say(
    `  ${String(concurrency).padStart(2)}: ${mean(rates.steps).toFixed(0)} steps/s, ${mean(rates.jobs).toFixed(0)} jobs/s: ${ratio.toFixed(2)}x${target}`,
  );
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
const grown = quantile(growth, 0.5);
say(`  median ${grown.toFixed(2)}x; target at most 1.3x: ${judge(grown <= 1.3)}`);
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
await floor.close();
await queue.close();
await connections.close();
await engine.stop();
process.exit(0);
