/**
 * The wait of a step after the loss of its worker: from `kill -9` to its next attempt on another worker, and, after a worker's end by
 * SIGTERM, from the start of the next worker. Real processes with default settings.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { AppProcess } from '../tests/harness/processes.ts';
import { bash, plan } from '../tests/harness/runs.ts';
import { startSystem } from '../tests/harness/system.ts';

const kills = 6;
const restarts = 6;
const runsAtOnce = 4;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const system = await startSystem({}, {});
const { client } = system;

/** When an attempt of a run's step started, in milliseconds since the epoch. */
async function startOf(runId: string, attempt: number): Promise<number> {
  for (;;) {
    const { data } = await client.listEvents(runId, { limit: 500 });
    const found = data.find((event) => event.type === 'step.started' && event.data.attempt === attempt);
    if (found) return Date.parse(found.time);
    await pause(20);
  }
}

/** Starts runs and, while each runs a command, lets `strike` end their worker. @returns how long each waits, in milliseconds */
async function measureWaits(strike: () => Promise<number>): Promise<number[]> {
  const runs = await Promise.all(
    Array.from({ length: runsAtOnce }, () => client.createRun({ plan: plan([bash('echo x >> f; sleep 300')]) })),
  );
  const ids = runs.map(({ run }) => run.id);
  await Promise.all(ids.map((id) => startOf(id, 1)));
  const from = await strike();
  const times = await Promise.all(ids.map(async (id) => (await startOf(id, 2)) - from));
  for (const id of ids) await client.cancelRun(id);
  await Promise.all(ids.map((id) => client.waitForRun(id)));
  return times;
}

let worker: AppProcess = await system.startWorker();
const killed: number[] = [];
for (let round = 0; round < kills; round++) {
  const times = await measureWaits(async () => {
    const next = await system.startWorker();
    // Locks are renewed and checked periodically: each round strikes at another phase.
    await pause(round * 1300);
    const from = Date.now();
    await worker.signal('SIGKILL');
    worker = next;
    return from;
  });
  killed.push(...times);
}
const restarted: number[] = [];
for (let round = 0; round < restarts; round++) {
  const times = await measureWaits(async () => {
    await worker.signal('SIGTERM');
    const from = Date.now();
    worker = await system.startWorker();
    return from;
  });
  restarted.push(...times);
}
report('kill -9 of the worker to the next attempt on another', killed, 20_000);
report('start of a worker, after one that ended on SIGTERM, to the next attempt', restarted, 2000);
await system[Symbol.asyncDispose]();
process.exit(0);

function report(what: string, times: readonly number[], target: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  const longest = sorted.at(-1) ?? Number.NaN;
  const seconds = (ms: number | undefined): string => `${((ms ?? Number.NaN) / 1000).toFixed(2)} s`;
  say(`${what}, ${times.length} steps`);
  say(
    `  p50 ${seconds(sorted[Math.floor(sorted.length / 2)])}, longest ${seconds(longest)}; target at most ${seconds(target)}: ${longest <= target ? 'met' : 'MISSED'}`,
  );
}
