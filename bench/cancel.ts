/**
 * How long a canceled command lives: from the request over HTTP to the death of the last process of its tree, seen from outside. The API, the
 * worker and the sandbox are real.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, finished, plan } from '../tests/harness/runs.ts';
import { startSystem } from '../tests/harness/system.ts';
import { until } from '../tests/harness/until.ts';

const rounds = 120;
const warmUp = 10;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const system = await startSystem();
await system.startWorker();

const times: number[] = [];
for (let round = -warmUp; round < rounds; round++) {
  const marker = `3${process.pid}${round + warmUp}`;
  // Each eighth process ignores SIGTERM and needs SIGKILL.
  const deaf = round % 8 === 0 ? "trap '' TERM; " : '';
  const command = `${deaf}setsid sleep ${marker} & (sleep ${marker} & sleep ${marker}) & touch started; sleep ${marker}`;
  const { run } = await system.client.createRun({ plan: plan([bash(command)]) });
  await until('the command runs', () => existsSync(join(system.tree(run.id), 'started')) && treeOf(marker).length >= 4);
  const tree = treeOf(marker);
  const from = performance.now();
  const canceled = system.client.cancelRun(run.id);
  while (tree.some(isAlive)) await new Promise((resolve) => setImmediate(resolve));
  if (round >= 0) times.push(performance.now() - from);
  await canceled;
  await finished(system.client, run.id);
}
const at = (q: number): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * q)] ?? Number.NaN;
const judge = (holds: boolean): string => (holds ? 'met' : 'MISSED');
say(
  `cancel over HTTP to the death of the whole tree (at least 4 processes), ${rounds} times, one in eight deaf to SIGTERM`,
);
say(`  p50 ${at(0.5).toFixed(1)} ms; target at most 15: ${judge(at(0.5) <= 15)}`);
say(`  p99 ${at(0.99).toFixed(1)} ms; target at most 250: ${judge(at(0.99) <= 250)}`);
await system[Symbol.asyncDispose]();
process.exit(0);

/** Processes with the marker in their arguments: the command's processes, and bubblewrap's own. */
function treeOf(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && read(name, 'cmdline').includes(marker))
    .map(Number);
}

/** A zombie counts as dead. */
function isAlive(pid: number): boolean {
  const stat = read(String(pid), 'stat');
  return stat !== '' && !'ZX'.includes(stat.slice(stat.lastIndexOf(')') + 2).charAt(0));
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
