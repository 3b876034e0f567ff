import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RunFolder } from '../run/run-folder.ts';
import type { StatCache } from './stat-cache.ts';

/*
 * A program that has a file mapped writes to it without a system call. The kernel changes the file's times at the first write to a clean
 * page, and not again until that page was written out. So while a mapping may exist, a file's status says nothing about its content. A
 * status seen while no command ran can be trusted: a program that maps the file later makes a first write.
 */

/**
 * The stat cache that one walk of a tree may use.
 * @param mayUpdate whether no process may have a file mapped. Otherwise the walk reads the cache and does not write to it
 */
export function trustedStats(folder: Pick<RunFolder, 'tree'>, stats: StatCache, mayUpdate: boolean): StatCache {
  const update = mayUpdate ? {} : { set: () => {} };
  if (mappedWritesChangeTimes(dirname(folder.tree))) return { ...stats, ...update };
  // Every file is read again. Names in folders do not depend on mappings.
  return { ...stats, has: () => false, get: () => undefined, set: () => {} };
}

/** Magic numbers of statfs(2): tmpfs, ramfs and hugetlbfs. */
const inMemory: readonly number[] = [0x01021994, 0x858458f6, 0x958458f6];

/**
 * File systems in memory never write a page out, and allow writes through a mapping to a page that was only read without a fault: no time
 * changes at all, even for a command that runs alone. An overlay does as the file system below it, whose kind it hides, so the folder of
 * the trees is asked. Measured on Linux 6.18: tmpfs no, ext4 and overlayfs yes.
 */
const mappedWritesChangeTimes = (path: string): boolean => !inMemory.includes(statfsSync(path).type);
