/**
 * The cost of isolation against the same work without isolation, in one run: a command in a prepared sandbox (warm) and in a new sandbox
 * (cold), both from a process as large as a worker, against bash alone from a small process; and a file read through the tool host. Prints
 * a line per figure: median, 10th and 90th percentile, and the ratio to the floor with its spread.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox } from '@holdpoint/sandbox';

const rounds = 200;
/** A worker's memory above an empty Node. */
const ballastMiB = 160;
const warmUp = 20;

const root = process.getuid?.() === 0;
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);
const path = join(directory, 'workspace');
mkdirSync(path, { mode: 0o700 });
const owner = root ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
chownSync(path, owner.uid, owner.gid);

try {
  const floor = fork(join(import.meta.dirname, 'sandbox-floor.ts'));
  const ballast = Array.from({ length: ballastMiB }, (_, index) => Buffer.alloc(1024 * 1024, index + 1));
  const open = (name: string, spares: number) =>
    openSandbox({
      policy: 'require',
      allowUnsandboxed: false,
      stateDir: join(directory, name),
      unpackedBwrap: join(import.meta.dirname, '../.cache/bubblewrap'),
      spares,
    });
  await using sandbox = await open('state', 1);
  await using cold = await open('cold', 0);
  const { driver, memory, cpu } = sandbox.capabilities;
  process.stdout.write(`driver ${driver}, memory ${memory}, cpu ${cpu}; ${rounds} rounds, alternating\n`);
  process.stdout.write(
    `this process has ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB, ${ballast.length} of it ballast\n`,
  );
  const workspace = { id: 'run_bench', path, ...owner };
  const signal = new AbortController().signal;
  const files = sandbox.files(workspace);
  await files.write('4k', randomBytes(4096), { expect: { any: true } });

  const command = { workspace, argv: ['/bin/bash', '-c', 'true'] as const, signal };
  const [bare = [], warm = [], fresh = []] = await alternate(
    async () => {
      floor.send('run');
      const [milliseconds] = await once(floor, 'message');
      return milliseconds;
    },
    () => sandbox.run(command),
    () => cold.run(command),
  );
  floor.disconnect();
  report('bash -c true, bare', bare);
  report('bash -c true, warm', warm, { floor: bare, target: 'at most 1.5×' });
  report('bash -c true, cold', fresh, { floor: bare, target: 'at most 3.0×' });
  const { used, dropped } = sandbox.spares;
  process.stdout.write(
    `${used} of ${rounds + warmUp} warm commands found a prepared sandbox, ${dropped} were dropped\n`,
  );

  const [direct = [], hosted = []] = await alternate(
    () => readFile(join(path, '4k')),
    () => files.read('4k'),
  );
  report('read 4 KiB, direct', direct);
  report('read 4 KiB, tool host', hosted, { floor: direct, target: 'at most 1 ms' });
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/**
 * Milliseconds of each round, sorted: the work's own measurement, or else the time of the call. The rounds alternate: other load on the
 * machine affects all equally.
 */
async function alternate(...work: (() => Promise<unknown>)[]): Promise<number[][]> {
  const times = work.map((): number[] => []);
  for (let round = -warmUp; round < rounds; round++) {
    for (const [index, once] of work.entries()) {
      const started = performance.now();
      const own = await once();
      const passed = typeof own === 'number' ? own : performance.now() - started;
      if (round >= 0) times[index]?.push(passed);
    }
  }
  for (const list of times) list.sort((one, other) => one - other);
  return times;
}

function at(times: readonly number[], share: number): number {
  return times[Math.floor(times.length * share)] ?? Number.NaN;
}

function report(name: string, times: readonly number[], against?: { floor: readonly number[]; target: string }): void {
  const figures = [0.5, 0.1, 0.9].map((share) => at(times, share).toFixed(2));
  const over = (share: number) => (at(times, share) / at(against?.floor ?? times, share)).toFixed(2);
  const ratio = against ? `  ${over(0.5)}× (p10 ${over(0.1)}, p90 ${over(0.9)}; target: ${against.target})` : '';
  process.stdout.write(`${name.padEnd(26)} p50 ${figures[0]} ms  p10 ${figures[1]}  p90 ${figures[2]}${ratio}\n`);
}
