/**
 * The cost of a real step: a run with sequential calls, through an API, a worker and a Redis of their own (`appendfsync always`), as `npm start`
 * starts them. Each kind of call alternates with a no-op step and with the same work done bare by a small process. Then the parts of a step's
 * time, from a worker with notes of the begin and end of each part.
 *
 * npm run bench -- steps [--only bash,grep] [--rounds 8] [--steps 30] [--no-parts]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSystem, succeed } from '../tests/harness/index.ts';
import { judged, mean, openRounds, say, spread } from './figures.ts';
import { type Kind, kinds, runOf, sourceFiles } from './steps-kinds.ts';
import { partsOf, partsText } from './steps-parts.ts';
import type { Interval } from './steps-tap.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    only: { type: 'string', default: [...Object.keys(kinds), 'parallel'].join(',') },
    rounds: { type: 'string', default: '8' },
    steps: { type: 'string', default: '30' },
    parts: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const [rounds, steps] = [Number(values.rounds), Number(values.steps)];
/** No round begins later; the forty concurrent runs have a quarter more. */
const seconds = 100;
/** The first steps of a run open resources for later steps: a tree, a tool host. */
const warmUp = 3;
const parallel = { runs: 40, steps: 150, jobs: 1000 };
const chosen = values.only.split(',').map((name) => name.trim());
const unknown = chosen.find((name) => name !== 'parallel' && !Object.hasOwn(kinds, name));
if (unknown !== undefined || !(rounds >= 1) || !(steps >= warmUp + 2)) {
  process.stderr.write(
    `steps [--only ${Object.keys(kinds).join(',')},parallel] [--rounds N] [--steps N, at least ${warmUp + 2}] [--no-parts]\n`,
  );
  process.exit(2);
}

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const site = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Title</h1>${'<p>Some text.</p>'.repeat(50)}`);
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/page`;

// A worker has 40 slots, for the concurrent runs; sequential runs use a single slot.
const system = await startSystem(
  {
    HOLDPOINT_TOOLS: pathOf('telemetry-tool.ts'),
    HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32',
    HOLDPOINT_WORKER_STEPS: '40',
    HOLDPOINT_WORKER_TURNS: '40',
  },
  {},
);
const sources = {
  none: undefined,
  small: await system.directoryWith(sourceFiles('small')),
  large: await system.directoryWith(sourceFiles('large')),
};
const bareDirectory = await system.directoryWith(sourceFiles('large'));
const floors = {
  jobs: await openFloor('jobs'),
  work: await openFloor('work'),
};

async function openFloor(what: 'jobs' | 'work'): Promise<ChildProcess> {
  const child = fork(pathOf('steps-floors.ts'), [what, system.redis.address, bareDirectory, address]);
  await once(child, 'message');
  return child;
}

interface Bare {
  took: number[];
  seconds: number;
}

async function bare(name: string, times: number, atOnce = 1): Promise<Bare> {
  const child = name === 'job' ? floors.jobs : floors.work;
  child.send({ name, times, atOnce });
  const [done] = (await once(child, 'message')) as [Bare];
  return done;
}

async function run(kind: Kind, count = steps): Promise<string> {
  const { id } = await succeed(system.client, runOf(kind, count, { source: sources[kind.source], site: address }));
  return id;
}

/** When the steps of a run succeeded, by its log, in milliseconds since the epoch. */
async function endsOf(runId: string): Promise<number[]> {
  const ends: number[] = [];
  for await (const { type, time } of system.client.events(runId)) {
    if (type === 'step.succeeded') ends.push(Date.parse(time));
  }
  return ends;
}

/** Milliseconds between two steps. The log has whole milliseconds, so this is the mean of a run. */
async function stepTime(kind: Kind): Promise<number> {
  const ends = (await endsOf(await run(kind))).slice(warmUp);
  return ((ends.at(-1) ?? 0) - (ends[0] ?? 0)) / (ends.length - 1);
}

const { noop } = kinds as { noop: Kind };

interface Round {
  step: number;
  noop: number;
  bare: number;
}

async function round(kind: Kind): Promise<Round> {
  const step = await stepTime(kind);
  const { took } = await bare(kind.bare, steps);
  return { step, bare: mean(took), noop: kind === noop ? step : await stepTime(noop) };
}

const ratioOf = {
  noop: (one: Round) => one.step / one.noop,
  bare: (one: Round) => one.step / one.bare,
  above: (one: Round) => (one.step - one.noop) / one.bare,
};

function report(kind: Kind, all: readonly Round[]): void {
  const { title, target } = kind;
  const floor = kind.bare === 'job' ? 'a BullMQ job' : 'the bare work';
  const of = (name: keyof Round): string => spread(all.map((one) => one[name]));
  const beside = kind === noop ? '' : `, a no-op step ${of('noop')}`;
  say(`${title}: ${of('step')} ms a step; ${floor} ${of('bare')}${beside}`);
  const what = { noop: '× a no-op step', bare: `× ${floor}`, above: `what is above a no-op step, × ${floor}` };
  const shown: (keyof typeof ratioOf)[] =
    kind === noop ? ['bare'] : target?.of === 'above' ? ['noop', 'above'] : ['noop'];
  for (const name of shown) {
    const ratios = all.map(ratioOf[name]);
    say(`  ${what[name]}: ${name === target?.of ? judged(ratios, target) : spread(ratios)}`);
  }
}

/** Steps per second with all runs in progress: from the end of each first step to the end of the first finished run. */
async function parallelRate(): Promise<number> {
  const ids = await Promise.all(Array.from({ length: parallel.runs }, () => run(noop, parallel.steps)));
  const runs = await Promise.all(ids.map(endsOf));
  const from = Math.max(...runs.map((ends) => ends[0] ?? 0));
  const until = Math.min(...runs.map((ends) => ends.at(-1) ?? 0));
  const ended = runs.flat().filter((end) => end > from && end <= until);
  return (ended.length * 1000) / (until - from);
}

async function reportParallel(): Promise<void> {
  const all: { steps: number; jobs: number }[] = [];
  const mayBegin = openRounds({ rounds, seconds: seconds / 4 });
  for (let number = -1; mayBegin(number); number++) {
    const one = { steps: await parallelRate(), jobs: parallel.jobs / (await bare('job', parallel.jobs, 40)).seconds };
    if (number >= 0) all.push(one);
  }
  say(
    `no-op steps of 40 runs at once: ${spread(
      all.map((one) => one.steps),
      0,
    )} steps/s; BullMQ with 40 jobs at once: ${spread(
      all.map((one) => one.jobs),
      0,
    )} jobs/s`,
  );
  say(
    `  × BullMQ: ${judged(
      all.map((one) => one.steps / one.jobs),
      { atLeast: 1 },
    )}`,
  );
}

/** A run of each kind on a worker with notes of the begin and end of its parts. */
async function reportParts(names: readonly string[]): Promise<void> {
  const file = join(system.directory, 'tap.json');
  const worker = await system.startWorker(
    { BENCH_TAP: file, BENCH_REDIS: String(system.redis.pid()) },
    pathOf('steps-tap.ts'),
  );
  const noted = async (): Promise<Interval[]> => {
    rmSync(file, { force: true });
    process.kill(worker.pid, 'SIGUSR2');
    while (!existsSync(file)) await delay(10);
    return JSON.parse(readFileSync(file, 'utf8'));
  };
  await run(noop);
  say('\nwhere the time of a step goes, in ms; each moment belongs to one part');
  for (const name of names) {
    const kind = kinds[name];
    if (kind === undefined) continue;
    await noted();
    await run(kind);
    const parts = partsOf(await noted(), warmUp);
    say(`${kind.title}: ${parts.total.toFixed(2)} ms: ${partsText(parts)}`);
    const { worker, redis } = parts.computed;
    say(
      `  ${parts.commands.toFixed(1)} commands to Redis; processor time: worker ${worker.toFixed(2)} ms, Redis ${redis.toFixed(2)} ms`,
    );
  }
  await worker.signal('SIGTERM');
}

const worker = await system.startWorker();
const measured = new Map(chosen.filter((name) => name !== 'parallel').map((name) => [name, [] as Round[]]));
say(
  `at most ${rounds} rounds; each alternates a run of ${steps} steps, a run of ${steps} no-op steps and ${steps} times the bare work`,
);
say('median (10th–90th percentile of the rounds)\n');
for (const name of measured.keys()) await round(kinds[name] as Kind);
const mayBegin = openRounds({ rounds, seconds });
for (let number = 0; mayBegin(number); number++) {
  for (const [name, all] of measured) all.push(await round(kinds[name] as Kind));
}
for (const [name, all] of measured) report(kinds[name] as Kind, all);
if (chosen.includes('parallel')) await reportParallel();
await worker.signal('SIGTERM');
if (values.parts) await reportParts([...measured.keys()]);

for (const child of Object.values(floors)) child.disconnect();
site.close();
await system.end();
rmSync(system.directory, { recursive: true, force: true });
process.exit(0);
