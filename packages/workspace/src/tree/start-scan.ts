import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { createYielder, fromPlain, isDotGit } from '../files/index.ts';
import type { RunFolder } from '../run-folder/run-folder.ts';
import { gitPermissions, type Permissions } from './permissions.ts';
import type { RunState } from './run-state.ts';
import type { Scan, ScanLimits } from './scan.ts';
import { fileSystemClock, type StatCache } from './stat-cache.ts';

/*
 * A program with a mapped file writes to the file without a system call. The kernel changes the file's times at the first write to a clean
 * page, and not again until the page was written out. So while a mapping may exist, a file's status says nothing about its content. A
 * status read while no command ran can be trusted: a later mapping makes a first write.
 */

/**
 * The stat cache for a walk of a tree.
 * @param mayUpdate whether no process may have a file mapped. Otherwise the walk only reads the cache
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
 * File systems in memory never write a page out, and allow writes through a mapping to an only read page without a fault: no time changes
 * at all, even for a command running alone. An overlay behaves like the file system below, but hides its kind, so the folder of the trees
 * is asked. Measured on Linux 6.18: tmpfs no, ext4 and overlayfs yes.
 */
const mappedWritesChangeTimes = (path: string): boolean => !inMemory.includes(statfsSync(path).type);

export function startScan(
  deps: { limits: ScanLimits },
  input: {
    folder: RunFolder;
    state: RunState;
    content: Scan['content'];
    usual?: Permissions['usual'];
    /** Whether the stat cache is updated; false while a process may have files mapped, now or later. @default true */
    learn?: boolean;
    signal?: AbortSignal;
  },
): Scan {
  return {
    content: input.content,
    stats: trustedStats(input.folder, input.state.stats, input.learn !== false),
    maybeYield: createYielder(input.signal),
    clock: fileSystemClock(input.folder),
    top: fromPlain(input.folder.tree),
    limits: deps.limits,
    hides: isDotGit,
    hidden: new Set(),
    skipped: new Map(),
    usual: input.usual ?? gitPermissions.usual,
    permissions: new Map(),
    seen: new Set(),
    entries: 0,
    bytes: 0,
  };
}
