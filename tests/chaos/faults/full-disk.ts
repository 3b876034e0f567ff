import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Fault, restartDead } from './fault.ts';

/** Another file takes all space of the disk for some seconds, and is removed. What died of it is started again. */
export const fillDisk: Fault = async (deps) => {
  const { system, random } = deps;
  const file = join(system.dataDir, '..', 'fills-the-disk');
  const { bavail, bsize } = await statfs(system.dataDir);
  await promisify(execFile)('fallocate', ['-l', String(bavail * bsize), file]).catch(() => undefined);
  // What the processes have freed since then, to the last block.
  await promisify(execFile)('sh', ['-c', 'cat /dev/zero >> "$0"', file]).catch(() => undefined);
  await pause(random.integer(1000, 3000));
  rmSync(file, { force: true });
  await restartDead(deps);
};
