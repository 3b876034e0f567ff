/**
 * 100,000 files, 2 GB: real code, and 400 files of 3 MB that do not compress. The first workspace of them against `cp -a`, again, a fork, the
 * answer to a discard, and the most memory that the process took. A missed target is marked but does not fail.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspaces } from '@holdpoint/workspace';
import { judged, Ratios } from './ratios.ts';
import { makeNoise, makeRealTree } from './real-tree.ts';

const files = 100_000;
const noise = { files: 400, bytes: 3_000_000 };
const neededBytes = 12 * 1024 ** 3;

const { bavail, bsize } = statfsSync(tmpdir());
if (bavail * bsize < neededBytes) {
  process.stdout.write(`${tmpdir()} has less than ${neededBytes / 1024 ** 3} GiB free: nothing was measured.\n`);
} else await measure();

async function measure(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bulk-'));
  chmodSync(directory, 0o711);
  const owner = { uid: 230_000, gid: 230_000 };
  const root = process.getuid?.() === 0;
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const workspaces = openWorkspaces({
    ...{ dataDir: join(directory, 'data'), layers: 'auto' },
    allocateOwner: () => (root ? owner : own),
  });
  const runs = ['run_1', 'run_2', 'run_3'] as const;
  try {
    const path = join(directory, 'source');
    const code = makeRealTree(path, files - noise.files);
    const bytes = code + makeNoise(join(path, 'noise'), noise);
    process.stdout.write(`${files} files, ${(bytes / 1e9).toFixed(2)} GB\n`);
    const ratios = new Ratios();
    const source = { type: 'directory', path } as const;
    // The page cache then has the source, for both.
    execFileSync('tar', ['-cf', '/dev/null', '-C', path, '.']);
    await ratios.time('cp -a', () => execFileSync('cp', ['-a', path, join(directory, 'copy')]));
    rmSync(join(directory, 'copy'), { recursive: true });
    const first = await ratios.time('first time', () => workspaces.materialise({ runId: runs[0], source }));
    await ratios.time('again', () => workspaces.materialise({ runId: runs[1], source }));
    const from = { runId: runs[0], snapshot: first.id };
    await ratios.time('fork', () => workspaces.fork({ runId: runs[2], from }));
    for (const runId of runs) await ratios.time('discard', () => workspaces.discard(runId));
    ratios.report('cp -a');
    ratios.report('first time', { floor: 'cp -a', ratio: 2 });
    ratios.report('again');
    ratios.report('fork', { atMostMs: 1000 });
    ratios.report('discard', { atMostMs: 1000 });
    const peak = process.resourceUsage().maxRSS / 1024;
    process.stdout.write(
      `${'peak memory of the process'.padEnd(40)} ${peak.toFixed(0)} MB  ${judged('400 MB', peak <= 400)}\n`,
    );
  } finally {
    for (const runId of runs) await workspaces.discard(runId);
    rmSync(directory, { recursive: true, force: true });
  }
}
