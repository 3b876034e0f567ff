import type { LoggedEvent } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { meanings } from '../events/index.ts';
import type { MadeSnapshot } from '../events/meaning.ts';
import * as runLog from '../log/index.ts';
import { isUndone, type UndoneRange, undoneRanges } from './undone-snapshots.ts';

type Deps = Pick<EngineDeps, 'redis'>;
type Run = Pick<RunState, 'id' | 'seq'>;

/** A state of a run's files. */
export interface RunSnapshot {
  id: string;
  /** Null for the first snapshot of the run. */
  parent: string | null;
  /**
   * The maker of the snapshot. With a task: the step's call ran as this background command. Null for the first snapshot. Null with a
   * parent: a command of `prepare` made the snapshot, or an approved call found files that background commands had changed.
   */
  by: { step: string; task?: string } | { task: string } | null;
  time: string;
  /** Against the parent. For the first snapshot: the number of regular files. */
  files_changed: number;
  /** Whether an undo removed the snapshot. */
  undone: boolean;
  /** Whether the files are in this state now. */
  current: boolean;
}

export interface SnapshotsQuery {
  limit: number;
  /** The `next` of the previous page. */
  cursor?: number | undefined;
  /** asc: oldest first. */
  order?: 'asc' | 'desc' | undefined;
}

/**
 * A page of the snapshots of a run. The run's length does not change the cost. A step that changed no file keeps its parent's snapshot, so
 * an id may occur more than once.
 */
export async function pageSnapshots(
  deps: Deps,
  run: Run,
  { limit, cursor, order = 'asc' }: SnapshotsQuery,
): Promise<{ snapshots: RunSnapshot[]; damaged: runLog.Damaged[]; next: number | undefined }> {
  const all = { from: 1, to: run.seq, order };
  const range =
    cursor === undefined ? all : order === 'asc' ? { ...all, from: cursor + 1 } : { ...all, to: cursor - 1 };
  const places: runLog.SnapshotPlace[] = [];
  for await (const some of runLog.snapshotPlaces(deps.redis, run.id, range)) {
    places.push(...some);
    if (places.length > limit) break;
  }
  const shown = places.slice(0, limit);
  const standing = await readStanding(deps, run);
  const { snapshots, damaged } = await readSnapshots(deps, run, shown, standing);
  return { snapshots, damaged, next: places.length > limit ? shown.at(-1)?.seq : undefined };
}

const atOnce = 500;

/** Every snapshot of a run, oldest first. Reads the event of each snapshot. */
export async function listSnapshots(deps: Deps, run: Run): Promise<RunSnapshot[]> {
  const found: RunSnapshot[] = [];
  const standing = await readStanding(deps, run);
  for await (const places of runLog.snapshotPlaces(deps.redis, run.id, { from: 1, to: run.seq, order: 'asc' })) {
    for (let at = 0; at < places.length; at += atOnce) {
      const { snapshots, damaged } = await readSnapshots(deps, run, places.slice(at, at + atOnce), standing);
      if (damaged[0] !== undefined) throw damaged[0].error;
      found.push(...snapshots);
    }
  }
  return found;
}

/** Whether the files of a run were ever in this state. Reads only the events whose snapshots begin with the same digits. */
export async function hasSnapshot({ redis }: Deps, run: Run, id: string): Promise<boolean> {
  for await (const places of runLog.snapshotPlaces(redis, run.id, { from: 1, to: run.seq, order: 'desc' })) {
    const alike = places.filter(({ digits }) => id.startsWith(digits)).map(({ seq }) => seq);
    for (let at = 0; at < alike.length; at += atOnce) {
      const events = await runLog.readEvents(redis, run.id, alike.slice(at, at + atOnce));
      if (runLog.splitDamaged(events).items.some((event) => event !== undefined && snapshotOf(event)?.id === id))
        return true;
    }
  }
  return false;
}

/** Facts about the whole list, needed to say whether a snapshot is undone or current. */
interface Standing {
  undone: UndoneRange[];
  /** The event of the last snapshot that is not undone. */
  current: number | undefined;
}

async function readStanding(deps: Deps, run: Run): Promise<Standing> {
  const undone = await undoneRanges(deps, run, async (places) => {
    return (await readSnapshots(deps, run, places, { undone: [], current: 0 })).snapshots;
  });
  for await (const places of runLog.snapshotPlaces(deps.redis, run.id, { from: 1, to: run.seq, order: 'desc' })) {
    const current = places.find(({ seq }) => !isUndone(undone, seq));
    if (current !== undefined) return { undone, current: current.seq };
  }
  return { undone, current: undefined };
}

async function readSnapshots(
  { redis }: Deps,
  run: Run,
  places: readonly runLog.SnapshotPlace[],
  { undone, current }: Standing,
): Promise<{ snapshots: RunSnapshot[]; damaged: runLog.Damaged[] }> {
  const seqs = places.map(({ seq }) => seq);
  const { items, damaged } = runLog.splitDamaged(await runLog.readEvents(redis, run.id, seqs));
  const found = items.filter((event) => event !== undefined);
  const stepOfTask = await stepsBeside({ redis }, run, found);
  const snapshots = found.flatMap((event) => {
    const snapshot = snapshotOf(event);
    if (snapshot === undefined) return [];
    const by = snapshot.by !== null && 'task' in snapshot.by ? byTask(snapshot.by.task, stepOfTask) : snapshot.by;
    const { seq, time } = event;
    return [{ ...snapshot, by, time, undone: isUndone(undone, seq), current: seq === current }];
  });
  return { snapshots, damaged };
}

/** Steps whose calls ran as background commands, by task: the changes of such a command count as changes of its step. */
async function stepsBeside({ redis }: Deps, run: Run, events: readonly LoggedEvent[]): Promise<Map<string, string>> {
  const ids = events.flatMap((event) => (event.type === 'workspace.captured' ? [event.data.task_id] : []));
  const tasks = await Promise.all([...new Set(ids)].map((id) => runLog.readTask(redis, run.id, id)));
  const owners = tasks.filter((task) => task !== undefined);
  const steps = await runLog.readManySteps(redis, run.id, {
    ids: owners.map(({ about }) => about.step_id),
    fits: () => true,
  });
  return new Map(
    owners.flatMap(({ id }, at) => {
      const step = steps[at];
      return step !== undefined && !(step instanceof runLog.Damaged) && step.call.beside
        ? [[id, step.id] as const]
        : [];
    }),
  );
}

const byTask = (task: string, stepOfTask: ReadonlyMap<string, string>): RunSnapshot['by'] => {
  const step = stepOfTask.get(task);
  return step === undefined ? { task } : { step, task };
};

/** Reads a snapshot from its event alone. */
const snapshotOf = (event: LoggedEvent): MadeSnapshot | undefined => meanings[event.type].snapshot?.(event);
