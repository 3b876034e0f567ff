/**
 * 100,000 files, 2 GB: real code, and 400 incompressible files of 3 MB. Rows: the first workspace against `cp -a`, the next workspace, a
 * fork, the answer to a discard, the longest block of the event loop, and the peak memory of the process. Each row is printed when known. A
 * missed target is marked but does not fail.
 *
 * `--layers copy` measures plain trees, `--files N` fewer files.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { openWorkspaces } from '@holdpoint/workspace';
import { unmountBelow } from '@holdpoint/workspace/testing';
import { judged, Ratios } from './ratios.ts';
import { makeNoise, makeRealTree } from './real-tree.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { layers: { type: 'string', default: 'auto' }, files: { type: 'string', default: '100000' } },
});
const layers = values.layers === 'copy' ? 'copy' : 'auto';
const files = Number(values.files);
/** Three quarters of the bytes. */
const noise = { files: Math.round(files / 250), bytes: 3_000_000 };
/** Source, copy, trees and packs. */
const neededBytes = (files / 100_000) * 12 * 1024 ** 3;

const { bavail, bsize } = statfsSync(tmpdir());
if (bavail * bsize < neededBytes) {
  process.stdout.write(
    `${tmpdir()} has less than ${(neededBytes / 1024 ** 3).toFixed(0)} GiB free: nothing was measured.\n`,
  );
} else await measure();

async function measure(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bulk-'));
  chmodSync(directory, 0o711);
  const owner = { uid: 230_000, gid: 230_000 };
  const root = process.getuid?.() === 0;
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const workspaces = openWorkspaces({
    ...{ dataDir: join(directory, 'data'), layers },
    allocateOwner: () => (root ? owner : own),
  });
  const runs = ['run_1', 'run_2', 'run_3'] as const;
  try {
    const path = join(directory, 'source');
    const code = makeRealTree(path, files - noise.files);
    const bytes = code + makeNoise(join(path, 'noise'), noise);
    process.stdout.write(`${files} files, ${(bytes / 1e9).toFixed(2)} GB, layers: ${layers}\n`);
    const ratios = new Ratios();
    const source = { type: 'directory', path } as const;
    // The page cache then has the source, for both.
    execFileSync('tar', ['-cf', '/dev/null', '-C', path, '.']);
    await ratios.time('cp -a', () => execFileSync('cp', ['-a', path, join(directory, 'copy')]));
    ratios.report('cp -a');
    resetPeak();
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const first = await ratios.time('first time', () => workspaces.materialise({ runId: runs[0], source }));
    ratios.report('first time', { floor: 'cp -a', ratio: 2 });
    await ratios.time('again', () => workspaces.materialise({ runId: runs[1], source }));
    ratios.report('again', { floor: 'cp -a' });
    const from = { runId: runs[0], snapshot: first.id };
    await ratios.time('fork', () => workspaces.fork({ runId: runs[2], from }));
    ratios.report('fork', layers === 'auto' ? { floor: 'cp -a', atMostMs: 1000 } : { floor: 'cp -a' });
    for (const runId of runs) await ratios.time('discard', () => workspaces.discard(runId));
    ratios.report('discard', { atMostMs: 1000 });
    delay.disable();
    const row = (name: string, value: string, target: string, isMet: boolean) =>
      process.stdout.write(`${name.padEnd(40)} ${value}  ${judged(target, isMet)}\n`);
    const peak = peakBytes() / 1e6;
    row('peak memory of the process', `${peak.toFixed(0)} MB`, '400 MB', peak <= 400);
    const longest = delay.max / 1e6;
    row('longest stop of the event loop', `${longest.toFixed(0)} ms`, '50 ms', longest <= 50);
  } finally {
    for (const runId of runs) await workspaces.discard(runId);
    unmountBelow(directory);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Forgets the memory peak of making the source; Linux only. */
function resetPeak(): void {
  if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5');
}

function peakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]) * 1024;
}
