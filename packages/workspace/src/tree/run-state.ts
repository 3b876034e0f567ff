import { statSync } from 'node:fs';
import type { RunFolder } from '../run-folder/run-folder.ts';
import type { Folder } from '../store/objects/index.ts';
import type { RepositoriesCache } from './repositories.ts';
import { openStatCache, type StatCache } from './stat-cache.ts';

/** The in-memory state of a run between calls. All of the state can be read again from the run's folder. */
export interface RunState extends RepositoriesCache {
  readonly stats: StatCache;
  /** Trees of the source's commits used last by a publish, by commit. */
  readonly commits: Map<string, { id: string; root: Folder; submodules: { path: string; oid: string }[] }>;
}

type Shared = Pick<RunState, 'recent' | 'recentRepositories'>;

export interface RunStates {
  of(folder: RunFolder): RunState;
  drop(runId: string): void;
}

/** A run of 10,000 files takes about 10 MB. */
const maxRuns = 16;

export function createRunStates(): RunStates {
  const states = new Map<string, { identity: string; state: RunState }>();
  const shared: Shared = { recent: new Map(), recentRepositories: new Map() };
  return {
    of: (folder) => {
      // Another process may have discarded the run and materialised the run again: then the shadow repository has another identity.
      const { ino, birthtimeNs } = statSync(folder.shadow, { bigint: true });
      // The stat cache of a tree is wrong for another tree.
      const identity = `${ino} ${birthtimeNs} ${folder.epoch} ${folder.path}`;
      const kept = states.get(folder.runId);
      const state = kept?.identity === identity ? kept.state : newState(folder, shared);
      states.delete(folder.runId);
      states.set(folder.runId, { identity, state });
      for (const oldest of states.keys()) {
        if (states.size <= maxRuns) break;
        states.delete(oldest);
      }
      return state;
    },
    drop: (runId) => {
      states.delete(runId);
    },
  };
}

/** Reads the stat cache on first use: 100,000 files take 200 ms, and a process that only reads snapshots does not need them. */
function newState(folder: RunFolder, shared: Shared): RunState {
  let stats: StatCache | undefined;
  let known: Set<string> | undefined;
  const opened = () => {
    stats ??= openStatCache(folder);
    return stats;
  };
  return {
    get stats() {
      return opened();
    },
    get known() {
      known ??= new Set(opened().oids());
      return known;
    },
    snapshots: [],
    manifests: new Map(),
    repositories: [],
    commits: new Map(),
    ...shared,
  };
}
