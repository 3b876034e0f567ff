import { statSync } from 'node:fs';
import type { Repositories } from '../repository/repositories.ts';
import type { LoadedSnapshot } from '../tree/load-snapshot.ts';
import type { Manifest } from '../tree/manifest.ts';
import { openStatCache, type StatCache } from '../tree/stat-cache.ts';
import type { RunFolder } from './run-folder.ts';

/** What is kept in memory of a run between calls. All of it can be read again from the run's folder. */
export interface RunState {
  readonly stats: StatCache;
  /** Ids of objects that some ref of the shadow repository needs, so that no collection removes them; not all of them. */
  readonly known: Set<string>;
  /** Latest first, at most two: the parent of the next snapshot and the one before. */
  readonly snapshots: LoadedSnapshot[];
  readonly manifests: Map<string, Manifest>;
  /** Latest first, at most two. */
  readonly repositories: Repositories[];
}

export interface RunStates {
  of(folder: RunFolder): RunState;
  drop(runId: string): void;
}

/** Runs kept in memory; 10,000 files take about 10 MB. */
const runsKept = 16;

export function createRunStates(): RunStates {
  const states = new Map<string, { identity: string; state: RunState }>();
  return {
    of: (folder) => {
      // Another process may have discarded the run and made it anew: the identity of the shadow repository tells.
      const { ino, birthtimeNs } = statSync(folder.shadow, { bigint: true });
      // What is known of the files of one tree says nothing of another's.
      const identity = `${ino} ${birthtimeNs} ${folder.epoch} ${folder.path}`;
      const kept = states.get(folder.runId);
      const state = kept?.identity === identity ? kept.state : fresh(folder);
      states.delete(folder.runId);
      states.set(folder.runId, { identity, state });
      for (const oldest of states.keys()) {
        if (states.size <= runsKept) break;
        states.delete(oldest);
      }
      return state;
    },
    drop: (runId) => {
      states.delete(runId);
    },
  };
}

export function remember(state: RunState, snapshot: LoadedSnapshot): void {
  const others = state.snapshots.filter((kept) => kept.id !== snapshot.id);
  state.snapshots.splice(0, state.snapshots.length, snapshot, ...others.slice(0, 1));
}

/** The status cache is read when it is asked for: one of 100,000 files takes 200 ms, and a process that only reads snapshots needs none of it. */
function fresh(folder: RunFolder): RunState {
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
    ...{ snapshots: [], manifests: new Map(), repositories: [] },
  };
}
