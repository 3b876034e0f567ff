import { createYielder, fromPlain, isDotGit } from '../files/index.ts';
import type { RunFolder } from '../run-folder/run-folder.ts';
import { gitPermissions, type Permissions } from './permissions.ts';
import type { RunState } from './run-state.ts';
import type { Scan, ScanLimits } from './scan.ts';
import { fileSystemClock } from './stat-cache.ts';
import { trustedStats } from './trusted-stats.ts';

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
