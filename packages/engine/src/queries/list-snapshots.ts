import type { LoggedEvent } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { fromStored, isOfType, readRawLog } from '../log/index.ts';

/** A state that the files of a run were in. */
export interface RunSnapshot {
  id: string;
  /** Null when the run began with it. */
  parent: string | null;
  /** A step with a task: its call ran as that background command. Null when the run began with it, or, with a parent, when a command of `prepare` made it, or an approved call found files that background commands had changed. */
  by: { step: string; task?: string } | { task: string } | null;
  time: string;
  /** Against the parent; of the first snapshot, its regular files. */
  files_changed: number;
  /** An undo took it back. */
  undone: boolean;
  /** The files are in this state now. */
  current: boolean;
}

/**
 * Every snapshot of a run, oldest first. A step that changed no file leaves the snapshot of its parent, so an id may occur more than once.
 * Reads the run's whole log.
 */
export async function listSnapshots(
  deps: Pick<EngineDeps, 'redis'>,
  run: Pick<RunState, 'id'>,
): Promise<RunSnapshot[]> {
  let found: RunSnapshot[] = [];
  const beside = new Set<string>();
  const stepOfTask = new Map<string, string>();
  let seq = 0;
  for await (const text of readRawLog(deps.redis, run.id)) {
    seq += 1;
    if (!mayCount(text)) continue;
    const event = fromStored(run.id, seq, text);
    if (event.type === 'run.rewound') {
      const kept = new Set(snapshotsBefore(found, new Set(event.data.undone.map(({ id }) => id))));
      found = found.map((snapshot) => ({ ...snapshot, undone: !kept.has(snapshot) }));
    } else {
      if (event.type === 'step.created' && event.data.beside) beside.add(event.step_id);
      if (event.type === 'task.created' && beside.has(event.step_id)) {
        stepOfTask.set(event.data.task_id, event.step_id);
      }
      const snapshot = snapshotOf(event, stepOfTask);
      if (snapshot) found.push({ ...snapshot, time: event.time, undone: false, current: false });
    }
  }
  const current = found.findLast(({ undone }) => !undone);
  if (current) current.current = true;
  return found;
}

/** Few events say something of files. Reading all of them takes ten times as long as finding these. */
const mayCount = (text: string): boolean => relevant.test(text) || (creates.test(text) && text.includes('"beside"'));
const relevant = isOfType(
  'run\\.rewound|task\\.created|workspace\\.(?:materialised|snapshotted|prepared|captured|drifted)',
);
const creates = isOfType('step\\.created');

/**
 * The snapshots that an undo of these steps keeps. The last of them has the files as they were before the first of the steps changed them:
 * the changes of a background command belong to no step, so all that were captured by then are kept.
 */
export function snapshotsBefore(snapshots: readonly RunSnapshot[], steps: ReadonlySet<string>): RunSnapshot[] {
  const kept = snapshots.filter(({ undone }) => !undone);
  const end = kept.findIndex(({ by }) => by !== null && 'step' in by && steps.has(by.step));
  return end === -1 ? kept : kept.slice(0, end);
}

/** @param stepOfTask commands that ran in the place of a call: their changes are those of its step */
function snapshotOf(
  event: LoggedEvent,
  stepOfTask: ReadonlyMap<string, string>,
): Pick<RunSnapshot, 'id' | 'parent' | 'by' | 'files_changed'> | undefined {
  switch (event.type) {
    case 'workspace.materialised':
      return { id: event.data.snapshot, parent: null, by: null, files_changed: event.data.files };
    case 'workspace.snapshotted':
      return { ...changed(event.data), by: { step: event.step_id } };
    case 'workspace.prepared':
      return { ...changed(event.data), by: null };
    case 'workspace.captured':
      return { ...changed(event.data), by: byTask(event.data.task_id, stepOfTask.get(event.data.task_id)) };
    case 'workspace.drifted':
      return { ...changed(event.data), by: null };
    default:
      return undefined;
  }
}

const byTask = (task: string, step: string | undefined): RunSnapshot['by'] =>
  step === undefined ? { task } : { step, task };

const changed = ({ snapshot, parent, files_changed }: { snapshot: string; parent: string; files_changed: number }) => ({
  id: snapshot,
  ...{ parent, files_changed },
});
