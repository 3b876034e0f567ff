import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isTerminal } from '@holdpoint/engine/domain/vocabulary';
import { openQueues } from '@holdpoint/engine/queues/queues';
import { connect } from '@holdpoint/engine/redis/connect';
import pino from 'pino';
import { openDisk, whyNoDisk } from '../harness/disk.ts';
import type { AppProcess } from '../harness/processes.ts';
import { directoryWith, git, repositoryWith } from '../harness/repositories.ts';
import { startSystem } from '../harness/system.ts';
import type { Verdict } from '../harness/verdict.ts';
import { externalEffects, publications, workspaceEffects } from './checks/effects.ts';
import { filesKept, lossIsSaid, wrongRedis } from './checks/installation.ts';
import { acknowledged, dense, firstDecision, folded, neverRan } from './checks/log.ts';
import { atRest, failures, leases, leftBehind, listedApprovals, wakeUps } from './checks/rest.ts';
import { collect } from './collect.ts';
import { faultNames, isFaultName, killProcesses } from './killer.ts';
import { openLedger } from './ledger.ts';
import { decide, produce } from './producer.ts';
import { randomFrom } from './random.ts';

const usage = `Usage: npm run test:chaos -- [--seed N] [--runs N] [--kills N] [--workers N] [--seconds N] [--faults NAME,…] [--soak]

Starts Redis, an API and workers, submits many runs, and harms the system at random: processes are killed and stopped, Redis loses data or
refuses writes, the disk is full, a clock jumps, a worker starts with the wrong Redis. Then it checks from outside that nothing was lost
and nothing ran twice. The seed makes the harness choose the same faults again; the order in which processes run cannot be repeated.

  --seed N      default: another one each time
  --runs N      default: 220
  --kills N     how many faults; default: 66. Each kind strikes once at least, where there are enough
  --workers N   default: 3
  --seconds N   over how long they are spread; default: 150
  --faults …    only these; default: all. ${faultNames.slice(0, 7).join(', ')},
                ${faultNames.slice(7).join(', ')}
  --verbose     says when each fault strikes
  --soak        ten minutes, 900 runs, 160 kills
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string' },
    kills: { type: 'string' },
    workers: { type: 'string' },
    seconds: { type: 'string' },
    faults: { type: 'string' },
    soak: { type: 'boolean', default: false },
    verbose: { type: 'boolean', short: 'v', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const count = (name: 'seed' | 'runs' | 'kills' | 'workers' | 'seconds', otherwise: number): number => {
  const value = values[name] === undefined ? otherwise : Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name}: expected a whole number\n\n${usage}`);
  process.exit(2);
};
const wanted = values.faults?.split(',') ?? faultNames;
const unknown = wanted.filter((name) => !isFaultName(name));
if (unknown.length > 0) {
  process.stderr.write(`--faults: unknown: ${unknown.join(', ')}\n\n${usage}`);
  process.exit(2);
}
const plan = {
  seed: count('seed', Math.floor(Math.random() * 1e9)),
  runs: count('runs', values.soak ? 900 : 220),
  kills: count('kills', values.soak ? 160 : 66),
  workers: count('workers', 3),
  seconds: count('seconds', values.soak ? 600 : 150),
};
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const lockMs = 2000;
const random = randomFrom(plan.seed);
const ledger = openLedger();
const site = createServer((request, response) => {
  const mark = (request.url ?? '').slice(1);
  ledger.visits.set(mark, [...(ledger.visits.get(mark) ?? []), Date.now()]);
  response.end('seen');
});
await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
const sources = {
  directory: await directoryWith({ 'README.md': 'a directory\n', 'lib/a.txt': 'a\n' }),
  repository: await repositoryWith({ 'README.md': 'a repository\n', 'lib/b.txt': 'b\n' }),
  site: `127.0.0.1:${(site.address() as AddressInfo).port}`,
};
say(`seed ${plan.seed}: ${plan.runs} runs, ${plan.kills} kills, ${plan.workers} workers, ${plan.seconds} s`);
let faults = faultNames.filter((name) => wanted.includes(name));
const noDisk = faults.includes('disk-full') ? await whyNoDisk() : undefined;
if (noDisk !== undefined) {
  faults = faults.filter((name) => name !== 'disk-full');
  say(`NOT RUN: disk-full (${noDisk})`);
}
const disk = faults.includes('disk-full') ? await openDisk(values.soak ? 8192 : 2048) : undefined;

const settings = {
  HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32',
  HOLDPOINT_LOCK_MS: String(lockMs),
  HOLDPOINT_LOG: 'info',
};
const system = await startSystem(settings, undefined, disk?.path);
const clockFile = (place: number): string => join(system.directory, `clock-${place}`);
const preload = new URL('./faults/shift-clock.ts', import.meta.url).href;
const startWorker = (place: number): Promise<AppProcess> =>
  system.startWorker({ CHAOS_CLOCK: clockFile(place) }, preload);
const workers = await Promise.all(Array.from({ length: plan.workers }, (_, place) => startWorker(place)));
const { client } = system;
const giveUp = AbortSignal.timeout(plan.seconds * 1000 + 300_000);
const deps = { client, ledger, random: random.branch('producer'), sources, signal: giveUp };

const enough = new AbortController();
const deciding = decide({ ...deps, random: random.branch('deciders') }, { all: false, stop: enough.signal });
const began = Date.now();
const struck = (name: string): void => {
  if (values.verbose) say(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${name}`);
};
const killing = killProcesses(
  { system, workers, startWorker, clockFile, ledger, random: random.branch('killer'), lockMs },
  { faults, blows: plan.kills, overMs: plan.seconds * 1000, stop: giveUp, report: struck },
);
await produce(deps, { runs: plan.runs, spreadMs: plan.seconds * 900 });
const blows = await killing;
enough.abort();
await deciding;
say('the killing is over; what is left comes to its end');

const ended = new AbortController();
const closing = decide({ ...deps, random: random.branch('closing') }, { all: true, stop: ended.signal });
await comeToRest();
ended.abort();
await closing;
// The last wake-ups of ended runs go with the next sweep.
await pause(3000);

const connections = connect(system.redis.address, pino({ level: 'silent' }));
const queues = openQueues(connections.state, Date.now);
const found = await collect({ client, redis: connections.state, queues });
const stuck = await client.stuck();
await queues.close();
await connections.close();
for (const worker of workers) await worker.signal('SIGTERM');

/** What a branch of the repository holds. */
async function readBranch(branch: string): Promise<{ files: string; commits: number } | undefined> {
  const ref = `refs/heads/${branch}`;
  if ((await git(sources.repository, 'for-each-ref', ref)) === '') return undefined;
  const files = await git(sources.repository, 'rev-parse', `${ref}^{tree}`);
  return { files, commits: Number(await git(sources.repository, 'rev-list', '--count', `main..${ref}`)) };
}
const finalTree = (runId: string): Promise<string> => {
  const shadow = join(system.dataDir, 'runs', runId, 'shadow.git');
  return git(shadow, 'rev-parse', `${found.runs.get(runId)?.run.snapshot}^{tree}`);
};

const verdicts: Verdict[] = [
  acknowledged(found, ledger),
  dense(found),
  folded(found),
  workspaceEffects(found, ledger),
  externalEffects(found, ledger),
  neverRan(found),
  firstDecision(found, ledger),
  atRest(found),
  leases(found),
  failures(found),
  wakeUps(found),
  listedApprovals(found),
  wrongRedis(ledger),
  filesKept(ledger),
  lossIsSaid(found, ledger, stuck),
  await publications(found, ledger, readBranch, finalTree),
];
const { directory, dataDir } = system;
await system.api.kill('SIGTERM');
verdicts.push(leftBehind({ directory: join(dataDir, 'runs'), dataDir }));

for (const { name, looked, of, wrong } of verdicts)
  say(
    `${wrong.length === 0 ? 'ok    ' : 'FAILED'} ${name}: ${looked} ${of}${wrong.length === 0 ? '' : `, ${wrong.length} wrong`}`,
  );
const statuses = tally([...found.runs.values()].map(({ run }) => run.status));
const tasks = tally([...found.runs.values()].flatMap((one) => one.tasks.map(({ status }) => status)));
const attempts = [...found.runs.values()].flatMap((one) => one.steps.map(({ attempt }) => attempt));
say(
  `runs: ${found.runs.size} (${statuses}); steps: ${attempts.length}, made again: ${attempts.filter((n) => n > 1).length}; tasks: ${tasks}`,
);
say(
  `faults: ${[...blows.values()].reduce((sum, n) => sum + n, 0)} (${[...blows]
    .map(([name, n]) => `${name} ${n}`)
    .join(', ')}); requests sent again: ${ledger.unanswered}; repairs: ${JSON.stringify(stuck.repairs)}`,
);
say(`seed ${plan.seed}`);
const wrong = verdicts.flatMap((one) => one.wrong.map((line) => `${one.name}: ${line}`));
if (wrong.length === 0) {
  await system[Symbol.asyncDispose]();
  await disk?.[Symbol.asyncDispose]();
} else {
  const report = join(directory, 'wrong.json');
  const runs = [...found.runs].filter(([id]) => wrong.some((line) => line.includes(id)));
  writeFileSync(
    report,
    JSON.stringify(
      { plan, wrong, runs: runs.map(([id, { events, marks }]) => ({ id, marks: [...marks], events })) },
      null,
      1,
    ),
  );
  for (const line of wrong.slice(0, 20)) say(`  ${line}`);
  say(`everything about them: ${report} (logs of the processes beside it)`);
}
site.close();
process.exit(wrong.length === 0 ? 0 : 1);

/** Resumes what paused, and waits until nothing moves that could move. */
async function comeToRest(): Promise<void> {
  const until = Date.now() + 180_000;
  for (;;) {
    const open = [];
    let cursor: string | undefined;
    do {
      const page = await client.listRuns({ limit: 200, cursor });
      open.push(...page.data.filter((run) => !isTerminal(run.status)));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    if (open.length === 0 || Date.now() > until) return;
    for (const run of open) if (run.status === 'paused') await client.resumeRun(run.id).catch(() => undefined);
    await pause(500);
  }
}

function tally(items: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].map(([name, n]) => `${name} ${n}`).join(', ');
}
