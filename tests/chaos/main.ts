import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@holdpoint/client';
import { isTerminal } from '@holdpoint/contract';
import { unmountTrees } from '@holdpoint/workspace/trees';
import { openDisk, whyNoDisk } from '../harness/disk.ts';
import { watchSpeed } from '../harness/machine-speed.ts';
import type { AppProcess } from '../harness/processes.ts';
import { directoryWith, repositoryWith } from '../harness/repositories.ts';
import { type System, startSystem } from '../harness/system.ts';
import { type FaultName, injectFaults } from './inject-faults.ts';
import { type Judgement, judge } from './judge.ts';
import { openLedger } from './ledger.ts';
import { readPlan } from './options.ts';
import { decide, produce } from './producer.ts';
import { randomFrom } from './random.ts';
import { print, report } from './report.ts';

const lockMs = 2000;
const speed = watchSpeed();
const preload = new URL('./faults/shift-clock.ts', import.meta.url).href;

const plan = readPlan();
const random = randomFrom(plan.seed);
const ledger = openLedger();
const site = createServer((request, response) => {
  const mark = (request.url ?? '').slice(1);
  ledger.visits.set(mark, [...(ledger.visits.get(mark) ?? []), Date.now()]);
  response.end('seen');
});
await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
const sources = {
  directory: await directoryWith(filesOf('directory')),
  repository: await repositoryWith(filesOf('repository')),
  site: `127.0.0.1:${(site.address() as AddressInfo).port}`,
};
print(
  `seed ${plan.seed}: ${plan.runs} runs, ${plan.kills} faults, ${plan.workers} workers, ${plan.seconds} s, sources of ${plan.files} files`,
);

const noDisk = plan.faults.includes('disk-full') ? await whyNoDisk() : undefined;
if (noDisk !== undefined) print(`NOT RUN: disk-full (${noDisk})`);
const faults = plan.faults.filter((name) => name !== 'disk-full' || noDisk === undefined);
const disk = faults.includes('disk-full') ? await openDisk(plan.soak ? 8192 : 2048) : undefined;
const settings = { HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32', HOLDPOINT_LOCK_MS: String(lockMs) };
const system = await startSystem(settings, undefined, disk?.path);
let isRight = false;
try {
  const injected = new Map<FaultName, number>();
  const judgement = await runAndInject(injected);
  isRight = report(judgement, { plan, injected, ledger, directory: system.directory });
} finally {
  await (isRight ? system[Symbol.asyncDispose]() : system.stop());
  await disk?.[Symbol.asyncDispose]();
  site.close();
  for (const source of [sources.directory, sources.repository]) await rm(source, { recursive: true, force: true });
}
process.exit(isRight ? 0 : 1);

function filesOf(name: string): Record<string, string> {
  const paths = Array.from({ length: Math.max(plan.files - 1, 0) }, (_, index) => `lib/${index % 8}/${index}.txt`);
  return Object.fromEntries(['README.md', ...paths].map((path) => [path, `${path} of a ${name}\n`]));
}

/** Submits runs and injects faults at the same time, waits until all runs are at rest, and judges. */
async function runAndInject(injected: Map<FaultName, number>): Promise<Judgement> {
  const clockFile = (place: number): string => join(system.directory, `clock-${place}`);
  const startWorker = async (place: number): Promise<AppProcess> => {
    const worker = await system.startWorker({ CHAOS_CLOCK: clockFile(place) }, preload);
    ledger.workers.set(String(worker.ready.worker), Number(worker.ready.steps));
    return worker;
  };
  const workers = await Promise.all(Array.from({ length: plan.workers }, (_, place) => startWorker(place)));
  const { client } = system;
  // A stuck run must not keep the harness for ever. Under a limit of four active runs the last ones wait for minutes.
  const deadline = AbortSignal.timeout(plan.seconds * 1000 + (plan.soak ? 300_000 : 240_000));
  // The first key has no limits.
  const { key } = await client.createKey({ name: 'submitter', kind: 'service', scopes: ['runs:read', 'runs:write'] });
  const submitter = system.as(key);
  const deps = { client, submitter, ledger, random: random.branch('producer'), sources, signal: deadline };

  const allInjected = new AbortController();
  const resuming = resumeAll(client, allInjected.signal);
  const deciding = decide({ ...deps, random: random.branch('deciders') }, { all: false, stop: allInjected.signal });
  const start = performance.now();
  const onInject = (name: FaultName): void => {
    injected.set(name, (injected.get(name) ?? 0) + 1);
    if (plan.verbose) print(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${name}`);
  };
  const injecting = injectFaults(
    { system, workers, startWorker, clockFile, ledger, random: random.branch('killer'), lockMs },
    { faults, count: plan.kills, overMs: plan.seconds * 1000, stop: deadline, onInject },
  );
  await Promise.all([produce(deps, { runs: plan.runs, spreadMs: plan.seconds * 900, steer: plan.steer }), injecting]);
  allInjected.abort();
  await Promise.all([deciding, resuming]);
  print('all faults are injected; waiting until every run is at rest');

  const ended = new AbortController();
  const closing = decide({ ...deps, random: random.branch('closing') }, { all: true, stop: ended.signal });
  await waitForRest(client);
  ended.abort();
  await closing;
  // The next sweep removes the last wake-ups of ended runs.
  await pause(3000);
  await submitter.close();
  speed.stop();
  const slowness = speed.slowness();
  print(`the same computing takes ${slowness.toFixed(1)} times as long as on a quiet machine`);
  return judge(
    { system, end: () => endAll(system, workers) },
    { ledger, repository: sources.repository, isCalm: injected.size === 0, slowness },
  );
}

/** Resumes runs paused by a low limit, as an operator does: a paused run keeps its place among the active runs. */
async function resumeAll(client: Client, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const paused = await client.listRuns({ limit: 200, status: ['paused'] }).catch(() => undefined);
    for (const { id } of paused?.data ?? []) await client.resumeRun(id).catch(() => undefined);
    await pause(1000);
  }
}

/** Resumes paused runs and waits until every run has ended, or none has moved for a minute. */
async function waitForRest(client: Client): Promise<void> {
  const until = performance.now() + 360_000;
  let [seen, since] = ['', performance.now()];
  for (;;) {
    const open = [];
    let cursor: string | undefined;
    do {
      const page = await client.listRuns({ limit: 200, cursor });
      open.push(...page.data.filter((run) => !isTerminal(run.status)));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    const now = open.map(({ id, seq }) => `${id} ${seq}`).join();
    if (now !== seen) [seen, since] = [now, performance.now()];
    if (open.length === 0 || performance.now() > Math.min(until, since + 60_000)) return;
    for (const run of open) if (run.status === 'paused') await client.resumeRun(run.id).catch(() => undefined);
    await pause(500);
  }
}

/** As in `down`: the trees of runs are unmounted when no worker is left. */
async function endAll({ api, dataDir }: System, workers: readonly (AppProcess | undefined)[]): Promise<void> {
  for (const worker of workers) await worker?.signal('SIGTERM');
  await api.kill('SIGTERM');
  await unmountTrees(dataDir);
}
