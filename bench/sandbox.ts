/**
 * What isolation costs against the same work without it, in one run: a command in the sandbox against bash alone, and a file read through
 * the tool host. Prints one line per figure: median, 10th and 90th percentile, and the ratio to the floor.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox } from '@holdpoint/sandbox';

const rounds = 200;
const warmUp = 20;

const root = process.getuid?.() === 0;
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);
const path = join(directory, 'workspace');
mkdirSync(path, { mode: 0o700 });
const owner = root ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
chownSync(path, owner.uid, owner.gid);

try {
  await using sandbox = await openSandbox({
    policy: 'require',
    allowUnsandboxed: false,
    stateDir: join(directory, 'state'),
    unpackedBwrap: join(import.meta.dirname, '../.cache/bubblewrap'),
  });
  const { driver, memory, cpu } = sandbox.capabilities;
  process.stdout.write(`driver ${driver}, memory ${memory}, cpu ${cpu}; ${rounds} rounds, alternating\n`);
  const workspace = { id: 'run_bench', path, ...owner };
  const signal = new AbortController().signal;
  const files = sandbox.files(workspace);
  await files.write('4k', randomBytes(4096), { expect: { any: true } });

  const [bare, isolated] = await alternate(
    () => bareBash('true'),
    () => sandbox.run({ workspace, argv: ['/bin/bash', '-c', 'true'], signal }),
  );
  report('bash -c true, bare', bare);
  report('bash -c true, sandboxed', isolated, { floor: bare, target: 'at most 4.0×' });

  const [direct, hosted] = await alternate(
    () => readFile(join(path, '4k')),
    () => files.read('4k'),
  );
  report('read 4 KiB, direct', direct);
  report('read 4 KiB, tool host', hosted, { floor: direct, target: 'at most 1 ms' });
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function bareBash(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const subprocess = spawn('/bin/bash', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'] });
    subprocess.stdout.resume();
    subprocess.stderr.resume();
    subprocess.once('error', reject);
    subprocess.once('close', () => resolve());
  });
}

/** Milliseconds of each round, sorted. The two alternate, so that other load on the machine affects both equally. */
async function alternate(...work: [() => Promise<unknown>, () => Promise<unknown>]): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []];
  for (let round = -warmUp; round < rounds; round++) {
    for (const [index, once] of work.entries()) {
      const started = performance.now();
      await once();
      if (round >= 0) times[index]?.push(performance.now() - started);
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
  const ratio = against ? `  ${(at(times, 0.5) / at(against.floor, 0.5)).toFixed(1)}× (target: ${against.target})` : '';
  process.stdout.write(`${name.padEnd(26)} p50 ${figures[0]} ms  p10 ${figures[1]}  p90 ${figures[2]}${ratio}\n`);
}
