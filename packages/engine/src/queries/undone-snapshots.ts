import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { Damaged, readEvents, readManySteps, rewindsOf, type SnapshotPlace, snapshotPlaces } from '../log/index.ts';

/** The range of events whose snapshots one undo removed. */
export interface UndoneRange {
  from: number;
  /** The sequence number of the undo's event. */
  to: number;
}

/** The writer of a snapshot. */
interface Left {
  readonly by: { step: string } | { task: string } | null;
}

export const isUndone = (ranges: readonly UndoneRange[], seq: number): boolean =>
  ranges.some(({ from, to }) => seq >= from && seq < to);

/**
 * The ranges of snapshots that the undos of a run removed. Reads each undo, and the snapshots from the undo's first step up to the first
 * snapshot by an undone step.
 * @param read reads the snapshots of the given events
 */
export async function undoneRanges(
  { redis }: Pick<EngineDeps, 'redis'>,
  run: Pick<RunState, 'id'>,
  read: (places: SnapshotPlace[]) => Promise<readonly Left[]>,
): Promise<UndoneRange[]> {
  const ranges: UndoneRange[] = [];
  for (const event of await readEvents(redis, run.id, await rewindsOf(redis, run.id))) {
    if (event === undefined || event instanceof Damaged || event.type !== 'run.rewound') continue;
    const undone = new Set(event.data.undone.map(({ id }) => id));
    const [first] = await readManySteps(redis, run.id, { ids: [...undone].slice(0, 1), fits: () => true });
    const since = {
      from: (first instanceof Damaged ? undefined : first?.created_seq) ?? 1,
      to: event.seq,
      order: 'asc',
    } as const;
    for await (const places of snapshotPlaces(redis, run.id, since)) {
      const from = await firstBy(
        undone,
        places.filter(({ seq }) => !isUndone(ranges, seq)),
        read,
      );
      if (from === undefined) continue;
      ranges.push({ from, to: event.seq });
      break;
    }
  }
  return ranges;
}

const atOnce = 20;

/** The event of the first snapshot by one of the steps. */
async function firstBy(
  steps: ReadonlySet<string>,
  places: readonly SnapshotPlace[],
  read: (places: SnapshotPlace[]) => Promise<readonly Left[]>,
): Promise<number | undefined> {
  for (let at = 0; at < places.length; at += atOnce) {
    const some = places.slice(at, at + atOnce);
    const found = (await read(some)).findIndex(({ by }) => by !== null && 'step' in by && steps.has(by.step));
    if (found !== -1) return some[found]?.seq;
  }
  return undefined;
}
