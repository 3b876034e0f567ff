import { statfsSync } from 'node:fs';
import { WorkspaceError } from '../errors.ts';

/**
 * Work in progress may use half of `limits.freeBytes`; the other half is reserved for the log.
 * @throws WorkspaceError ENOSPC
 */
export function assertFreeSpace({ dataDir, limits }: { dataDir: string; limits: { freeBytes: number } }): void {
  if (limits.freeBytes === 0) return;
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  if (free >= limits.freeBytes / 2) return;
  throw new WorkspaceError('ENOSPC', `Only ${free} bytes are free on the disk of the data directory.`);
}
