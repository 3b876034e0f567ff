import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { Damaged, readEvents, readManySteps, rewindsOf, type SnapshotPlace, snapshotPlaces } from '../log/index.ts';

/** The snapshots of these events were taken back by one undo. */
export interface UndoneRange {
  from: number;
  /** The event of the undo itself. */
  to: number;
}

/** What left a snapshot. */
interface Left {
  readonly by: { step: string } | { task: string } | null;
}

export const isUndone = (ranges: readonly UndoneRange[], seq: number): boolean =>
  ranges.some(({ from, to }) => seq >= from && seq < to);

/**
 * What the undos of a run took back. Each undo is read, and the snapshots from its first undone step up to the first one that such a step left.
 * @param read the snapshots of these events
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

/** The event of the first of these snapshots that one of the steps left. */
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
