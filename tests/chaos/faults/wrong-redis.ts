import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import type { Fault } from './fault.ts';

/** How long a worker may run with the wrong Redis. Its first garbage collection takes less. */
const wrongMs = 6000;
const settledMs = 5000;

/** Starts a worker on the data directory with another, empty Redis. The worker must refuse and remove nothing. */
export const startOnWrongRedis: Fault = async ({ system, ledger }) => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'hp-wrong-'));
  const redis = await startTestRedis(elsewhere);
  try {
    ageAll(system.dataDir);
    const before = durableFiles(system.dataDir);
    const worker = await system
      .startWorker({ REDIS_URL: redis.path, HOLDPOINT_MAINTENANCE_MS: '1000' })
      .catch(() => undefined);
    if (worker === undefined) ledger.wrongRedis.refused += 1;
    else {
      ledger.wrongRedis.started += 1;
      await pause(wrongMs);
      await worker.signal('SIGKILL');
    }
    ledger.filesLost.push(...before.filter((path) => !isKept(system.dataDir, path)));
  } finally {
    await redis.stop();
    rmSync(elsewhere, { recursive: true, force: true });
  }
};

/** Makes workspaces and blobs two days old: garbage collection spares younger ones. */
function ageAll(dataDir: string): void {
  const then = new Date(Date.now() - 2 * 24 * 3_600_000);
  for (const path of durableFiles(dataDir)) {
    const file = path.replace(/\/shadow\.git$/, '');
    // A just written file may not be in a log yet; only its age protects the file.
    const about = statSync(file, { throwIfNoEntry: false });
    if (about !== undefined && about.mtimeMs < Date.now() - settledMs) utimesSync(file, then, then);
  }
}

/** Whether the path exists, or is in the trash, in reach of an operator's restore. */
function isKept(dataDir: string, path: string): boolean {
  if (existsSync(path)) return true;
  const [, name = ''] = /\/runs\/([^/]+)\//.exec(path) ?? /\/([^/]+)$/.exec(path) ?? [];
  const trash = join(dataDir, 'trash');
  return existsSync(trash) && readdirSync(trash, { recursive: true }).some((entry) => String(entry).includes(name));
}

/** The repositories of all runs and the blobs. No fault and no run of the harness removes any of them. */
function durableFiles(dataDir: string): string[] {
  const runs = join(dataDir, 'runs');
  const shadows = namesIn(runs).map((run) => join(runs, run, 'shadow.git'));
  const blobs = join(dataDir, 'blobs');
  const stored = namesIn(blobs)
    .filter((folder) => /^[0-9a-f]{2}$/.test(folder))
    .flatMap((folder) => namesIn(join(blobs, folder)).map((name) => join(blobs, folder, name)))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  return [...shadows.filter((path) => existsSync(path)), ...stored];
}

const namesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
