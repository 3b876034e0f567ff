/**
 * A crowd: many runs of real steps, submitted at once to one worker. Its rate against that of as many runs as the worker has slots, alone on
 * the same system; when its first run ends; how long a run of one step takes beside it; and the memory of the worker and its processes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CreateRun } from '@holdpoint/contract/wire';
import { defaultWorkerSteps } from '@holdpoint/engine';
import { bash, plan, startSystem } from '../tests/harness/index.ts';
import { openMemoryMeter } from './crowd-memory.ts';
import { judged, say } from './figures.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { runs: { type: 'string', default: '500' }, steps: { type: 'string', default: '20' } },
});
const [runs, steps] = [Number(values.runs), Number(values.steps)];
const slots = defaultWorkerSteps();
/** The places of a worker advance together, so a small crowd cannot have a tenth. */
const share = Math.max(0.1, Number(((2.5 * slots) / runs).toFixed(2)));
const most = { rate: 0.9, share, shortSeconds: 5, gigabytes: 1.5 };
const mostMs = 45 * 60_000;

const free = { HOLDPOINT_KEY_RATE: '100000', HOLDPOINT_KEY_BURST: '1000000' };
const ofTenant = {
  HOLDPOINT_TENANT_RATE: '100000',
  HOLDPOINT_TENANT_BURST: '1000000',
  HOLDPOINT_TENANT_RUNS: '100000',
};
// The times of a user.
const system = await startSystem({ ...free, ...ofTenant }, {});
const { client } = system;
const worker = await system.startWorker();

const kinds = [
  (n: number) => ({ tool: 'write_file', args: { path: `file-${n}.txt`, content: `text ${n}\n` } }),
  (n: number) => bash(`wc -c file-${n - 1}.txt >> log`),
  () => ({ tool: 'read_file', args: { path: 'log' } }),
  () => bash('ls'),
];
const goal: CreateRun['plan'] = plan(
  ...Array.from({ length: steps }, (_, n) => [(kinds[n % kinds.length] as (n: number) => ReturnType<typeof bash>)(n)]),
);

const submit = async (body: Omit<CreateRun, 'title'>): Promise<string> => (await client.createRun(body)).run.id;

/** Waits for the end of a run. @throws unless it succeeds */
async function end(id: string): Promise<{ from: number; to: number }> {
  const { status, reason, created_at, ended_at } = await client.waitForRun(id, { signal: AbortSignal.timeout(mostMs) });
  if (status !== 'succeeded') throw new Error(`${id} ${status}: ${reason?.message}`);
  return { from: Date.parse(created_at), to: Date.parse(ended_at ?? '') };
}

/** Steps per second of so many runs, from the first submission to the last end. */
async function rateOf(count: number): Promise<number> {
  const ids = await Promise.all(Array.from({ length: count }, () => submit({ plan: goal })));
  const spans = await Promise.all(ids.map(end));
  const seconds = (Math.max(...spans.map(({ to }) => to)) - Math.min(...spans.map(({ from }) => from))) / 1000;
  return (count * steps) / seconds;
}

/** Runs that have not ended, without asking for each. */
const active = async (): Promise<number> =>
  Object.values((await client.stuck()).runs).reduce((sum, one) => sum + one, 0);

await rateOf(slots);
const alone = await rateOf(1);
const before = await rateOf(slots);

const memory = openMemoryMeter(worker.pid);
const from = Date.now();
const ids: string[] = [];
for (let n = 0; n < runs; n += 20)
  ids.push(...(await Promise.all(Array.from({ length: Math.min(20, runs - n) }, () => submit({ plan: goal })))));
const short: number[] = [];
for (const share of [0, 0.25, 0.5, 0.75]) {
  while ((await active()) > runs * (1 - share)) await delay(500);
  const { from, to } = await end(await submit({ plan: plan([bash('echo short')]) }));
  short.push((to - from) / 1000);
}
while ((await active()) > 0) await delay(500);
const spans = await Promise.all(ids.map(end));
const peak = memory.stop();
const seconds = (Math.max(...spans.map(({ to }) => to)) - from) / 1000;
const rate = (runs * steps) / seconds;

const firstEnd = Math.min(...spans.map(({ to }) => to));
let made = 0;
for (const id of ids) {
  const { data } = await client.listSteps(id);
  made += data.filter(({ settled_at }) => settled_at !== null && Date.parse(settled_at) <= firstEnd).length;
}
const after = await rateOf(slots);

say(`${runs} runs of ${steps} steps on one worker with ${slots} slots`);
say(
  `  steps per second: ${rate.toFixed(1)}; ${slots} runs alone ${before.toFixed(1)} before and ${after.toFixed(1)} after, one run alone ${alone.toFixed(1)}`,
);
say(
  `  rate of the crowd to that of one run per slot: ${judged([(2 * rate) / (before + after)], { atLeast: most.rate })}`,
);
say(`  share of all steps when its first run ended: ${judged([made / (runs * steps)], { atMost: most.share })}`);
say(
  `  slowest of ${short.length} runs of one step beside it, s: ${judged([Math.max(...short)], { atMost: most.shortSeconds })}`,
);
say(
  `  memory of the worker and its processes, GB: ${judged([peak.all], { atMost: most.gigabytes })}; the worker alone ${peak.worker.toFixed(2)}, ${peak.processes} processes`,
);

await system[Symbol.asyncDispose]();
