import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Fault, restartDead } from './fault.ts';

/** A file fills the disk for some seconds. Then the file is removed, and dead processes are restarted. */
export const fillDisk: Fault = async (deps) => {
  const { system, random } = deps;
  const file = join(system.dataDir, '..', 'filler');
  const { bavail, bsize } = await statfs(system.dataDir);
  await promisify(execFile)('fallocate', ['-l', String(bavail * bsize), file]).catch(() => undefined);
  // Fills the space freed by the processes since `statfs`, to the last block.
  await promisify(execFile)('sh', ['-c', 'cat /dev/zero >> "$0"', file]).catch(() => undefined);
  await pause(random.integer(1000, 3000));
  rmSync(file, { force: true });
  await restartDead(deps);
};
