import type { EventOf, EventType } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import * as runLog from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;
type Logged<Type extends EventType> = EventOf<Type> & { seq: number };

/** A decision of the planner, and the messages of people since the decision before it. */
export interface PlannedTurn {
  planned: Logged<'turn.planned'>;
  messages: Logged<'message.received'>[];
  undone: boolean;
}

export interface TurnsQuery {
  limit: number;
  /** The event of the last turn of the previous page. */
  cursor?: number | undefined;
  order?: 'asc' | 'desc' | undefined;
}

interface TurnPage {
  turns: PlannedTurn[];
  damaged: runLog.Damaged[];
  next: number | undefined;
}

/** Caps the stored text of a page: a model may write a long message in every turn. */
const mostBytes = 1024 * 1024;

/**
 * A page of the turns that a run planned itself, undone turns too. Reads the log between the turns of the page: other events are skipped by
 * the beginning of their text. A page has fewer turns than `limit` when their messages are long.
 */
export async function pageTurns(
  { redis }: Deps,
  run: Pick<RunState, 'id' | 'seq'>,
  { limit, cursor, order = 'asc' }: TurnsQuery,
): Promise<TurnPage> {
  const undos = await readUndos({ redis }, run.id);
  const entries =
    order === 'asc'
      ? runLog.readRawLogEntries(redis, run.id, { after: cursor ?? 0 })
      : runLog.readRawLogBackwards(redis, run.id, { before: cursor ?? run.seq + 1 });
  const page: TurnPage = { turns: [], damaged: [], next: undefined };
  let [bytes, last] = [0, 0];
  for await (const { entry, size } of turnsOf(run.id, entries, order)) {
    const count = page.turns.length + page.damaged.length;
    if (count === limit || (count > 0 && bytes + size > mostBytes)) return { ...page, next: last };
    bytes += size;
    last = entry instanceof runLog.Damaged ? seqOfDamaged(entry) : entry.planned.seq;
    if (entry instanceof runLog.Damaged) page.damaged.push(entry);
    else page.turns.push({ ...entry, undone: isUndone(undos, entry.planned) });
  }
  return page;
}

interface Found {
  entry: Omit<PlannedTurn, 'undone'> | runLog.Damaged;
  size: number;
}

/** Messages stand before the turn that reads them: a walk back meets the turn first. */
async function* turnsOf(
  runId: string,
  entries: AsyncIterable<runLog.RawEntry>,
  order: 'asc' | 'desc',
): AsyncGenerator<Found> {
  const turn = new OpenTurn();
  for await (const raw of entries) {
    if (isMessage.test(raw.text)) turn.add(await readRaw<'message.received'>(runId, raw), raw.text.length, order);
    if (!isPlanned.test(raw.text)) continue;
    if (order === 'desc') yield* turn.end();
    turn.begin(await readRaw<'turn.planned'>(runId, raw), raw.text.length);
    if (order === 'asc') yield* turn.end();
  }
  yield* turn.end();
}

const isPlanned = runLog.isOfType('turn\\.planned');
const isMessage = runLog.isOfType('message\\.received');

/** A turn while its messages are gathered. */
class OpenTurn {
  #planned: Logged<'turn.planned'> | runLog.Damaged | undefined;
  #messages: Logged<'message.received'>[] = [];
  #size = 0;

  begin(planned: Logged<'turn.planned'> | runLog.Damaged, size: number): void {
    this.#planned = planned;
    this.#size += size;
  }

  /** An unreadable message is left to the list of events, which names it. */
  add(message: Logged<'message.received'> | runLog.Damaged, size: number, order: 'asc' | 'desc'): void {
    const isBeforePage = order === 'desc' && this.#planned === undefined;
    if (message instanceof runLog.Damaged || isBeforePage) return;
    if (order === 'asc') this.#messages.push(message);
    else this.#messages.unshift(message);
    this.#size += size;
  }

  *end(): Generator<Found> {
    const planned = this.#planned;
    if (planned === undefined) return;
    yield {
      entry: planned instanceof runLog.Damaged ? planned : { planned, messages: this.#messages },
      size: this.#size,
    };
    this.#planned = undefined;
    this.#messages = [];
    this.#size = 0;
  }
}

const readRaw = async <Type extends 'turn.planned' | 'message.received'>(
  runId: string,
  { seq, text }: runLog.RawEntry,
): Promise<Logged<Type> | runLog.Damaged> =>
  runLog.readEntry(`${runId}:${seq}`, () => runLog.fromStored(runId, seq, text) as Logged<Type>);

const seqOfDamaged = ({ id }: runLog.Damaged): number => Number(id.slice(id.lastIndexOf(':') + 1));

async function readUndos({ redis }: Deps, runId: string): Promise<Logged<'run.rewound'>[]> {
  const events = await runLog.readEvents(redis, runId, await runLog.rewindsOf(redis, runId));
  return events.flatMap((event) =>
    event === undefined || event instanceof runLog.Damaged || event.type !== 'run.rewound' ? [] : [event],
  );
}

/** An undo keeps the turn of the last kept step, and removes the later ones. */
const isUndone = (undos: readonly Logged<'run.rewound'>[], { seq, data: { turn } }: Logged<'turn.planned'>): boolean =>
  undos.some((undo) => undo.seq > seq && undo.data.turn < turn);
