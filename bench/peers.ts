/**
 * Durable steps of Holdpoint, of Restate, of DBOS on PostgreSQL, and a bare job of BullMQ, in alternating rounds of one run. Each system has its
 * own processes and its own server, with fsync on. The bench fetches the systems into `.cache/` for its own use; an unavailable system is named,
 * and the others are measured.
 *
 * npm run bench -- peers [--rounds 5] [--steps 60] [--parked 300] [--only bullmq,holdpoint,restate,dbos]
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { judged, mean, openRounds, say, spread } from './figures.ts';
import { installPackages } from './peers/install.ts';
import { type OpenPeer, openPeer } from './peers/peer.ts';

const names = { bullmq: 'a BullMQ job', holdpoint: 'Holdpoint', dbos: 'DBOS', restate: 'Restate' } as const;
type Name = keyof typeof names;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    only: { type: 'string', default: Object.keys(names).join(',') },
    rounds: { type: 'string', default: '5' },
    steps: { type: 'string', default: '60' },
    parked: { type: 'string', default: '300' },
  },
});
const [rounds, steps, parked] = [Number(values.rounds), Number(values.steps), Number(values.parked)];
const chosen = values.only.split(',') as Name[];
if (chosen.some((name) => !Object.hasOwn(names, name)) || !(rounds >= 1 && steps >= 5 && parked >= 0)) {
  process.stderr.write(
    `peers [--only ${Object.keys(names).join(',')}] [--rounds N] [--steps N, at least 5] [--parked N]\n`,
  );
  process.exit(2);
}
const releases = 5;
const stepsAtOnce = 25;
/** The first steps of a run open connections and files for later steps. */
const warmUp = 3;

interface Round {
  /** Milliseconds of a step in a sequence. */
  step: number;
  /** Steps per second of ten and of forty runs at once. */
  at10: number;
  at40: number;
  /** Milliseconds from the release of a parked step to its begin. */
  release: number;
}

async function measure(peer: OpenPeer): Promise<Round> {
  const [ends = []] = await peer.run({ runs: 1, steps });
  const later = ends.slice(warmUp);
  const step = ((later.at(-1) ?? 0) - (later[0] ?? 0)) / (later.length - 1);
  const at10 = rate(await peer.run({ runs: 10, steps: stepsAtOnce }));
  const at40 = rate(await peer.run({ runs: 40, steps: stepsAtOnce }));
  const released: number[] = [];
  for (const key of await peer.park(releases)) released.push(await peer.release(key));
  return { step, at10, at40, release: mean(released) };
}

/** Steps per second with all runs in progress: from the end of each first step to the end of the first finished run. */
function rate(runs: readonly number[][]): number {
  const from = Math.max(...runs.map((ends) => ends[0] ?? 0));
  const until = Math.min(...runs.map((ends) => ends.at(-1) ?? 0));
  return (runs.flat().filter((end) => end > from && end <= until).length * 1000) / (until - from);
}

/** Megabytes of memory of the server and of the worker. Shared pages count once. */
async function memoryOf(peer: OpenPeer): Promise<{ server: number; worker: number }> {
  const { server, worker = peer.pid } = await peer.processes();
  return { server: server.reduce((sum, pid) => sum + megabytesOf(pid), 0), worker: megabytesOf(worker) };
}

function megabytesOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    // An ended connection of PostgreSQL.
    return 0;
  }
}

async function open(): Promise<Map<Name, OpenPeer>> {
  const missing = await installPackages().then(
    () => undefined,
    (error: unknown) => error,
  );
  const opened = new Map<Name, OpenPeer>();
  for (const name of chosen) {
    const needsPackages = name === 'dbos' || name === 'restate';
    const failed = needsPackages && missing !== undefined ? Promise.reject(missing) : openPeer(`./${name}.ts`);
    await failed.then(
      (peer) => opened.set(name, peer),
      (error: unknown) => say(`${names[name]} cannot be had: ${firstLine(error)}`),
    );
  }
  return opened;
}

const firstLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';

const rows = [
  { key: 'step', title: 'one no-op step after the other', unit: 'ms a step', digits: 2 },
  { key: 'at10', title: 'ten runs at once', unit: 'steps/s', digits: 0 },
  { key: 'at40', title: 'forty runs at once', unit: 'steps/s', digits: 0 },
  { key: 'release', title: 'release → step runs', unit: 'ms', digits: 2 },
] as const satisfies { key: keyof Round; title: string; unit: string; digits: number }[];

const targets: Partial<Record<keyof Round, Partial<Record<Name, Parameters<typeof judged>[1]>>>> = {
  step: { bullmq: { atMost: 1.1 }, dbos: { atMost: 1 }, restate: { atMost: 1.3 } },
  at40: { bullmq: { atLeast: 1 }, dbos: { atLeast: 1 }, restate: { atLeast: 0.8 } },
};

function report(measured: ReadonlyMap<Name, Round[]>): void {
  for (const { key, title, unit, digits } of rows) {
    say(`\n${title}, ${unit}`);
    const own = measured.get('holdpoint')?.map((round) => round[key]);
    for (const [name, all] of measured) {
      const figures = all.map((round) => round[key]);
      say(`  ${names[name].padEnd(12)} ${spread(figures, digits)}`);
      if (name === 'holdpoint' || own === undefined) continue;
      const ratios = own.map((value, round) => value / (figures[round] ?? Number.NaN));
      const target = targets[key]?.[name];
      say(`    Holdpoint × ${names[name]}: ${target === undefined ? spread(ratios) : judged(ratios, target)}`);
    }
  }
}

async function reportMemory(peers: ReadonlyMap<Name, OpenPeer>): Promise<void> {
  say(`\nmemory of 1,000 parked steps, from ${parked} of them: megabytes of the server and of the worker`);
  for (const [name, peer] of peers) {
    const before = await memoryOf(peer);
    await peer.park(parked);
    const after = await memoryOf(peer);
    const each = (part: 'server' | 'worker'): string => (((after[part] - before[part]) * 1000) / parked).toFixed(1);
    const all = `${after.server.toFixed(0)} and ${after.worker.toFixed(0)} in all`;
    say(`  ${names[name].padEnd(12)} ${each('server')} and ${each('worker')} (${all})`);
  }
}

const peers = await open();
say(
  `at most ${rounds} rounds in turn; a run of ${steps} steps, 10 and 40 runs of ${stepsAtOnce}, ${releases} releases each`,
);
say('median (10th–90th percentile of the rounds)');
const measured = new Map([...peers.keys()].map((name) => [name, [] as Round[]]));
// The first round warms up.
const mayBegin = openRounds({ rounds, seconds: 120 });
for (let number = -1; mayBegin(number); number++) {
  for (const [name, peer] of peers) {
    const one = await measure(peer);
    if (number >= 0) measured.get(name)?.push(one);
  }
}
report(measured);
if (parked > 0) await reportMemory(peers);
for (const peer of peers.values()) await peer.stop();
process.exit(0);
