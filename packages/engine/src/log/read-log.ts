import type { LoggedEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { type Damaged, readEntry } from './damaged.ts';
import { logKey } from './keys.ts';
import { fromStored } from './stored-event.ts';

/** The events after sequence number `after`, oldest first, at most `limit`. */
export async function readLog(
  redis: Redis,
  runId: string,
  { after = 0, limit = 500 }: { after?: number; limit?: number } = {},
): Promise<LoggedEvent[]> {
  const entries = await redis.xrange(logKey(runId), `${after + 1}-0`, '+', 'COUNT', limit);
  return entries.map((entry) => eventOf(runId, entry));
}

/** The same where each event is an entry of a list. */
export async function readLogEntries(
  redis: Redis,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<{ seq: number; entry: LoggedEvent | Damaged }[]> {
  const entries = await redis.xrange(logKey(runId), `${after + 1}-0`, '+', 'COUNT', limit);
  return Promise.all(entries.map(async (entry) => ({ seq: seqOf(entry), entry: await entryOf(runId, entry) })));
}

/** The whole log, page by page. */
export async function* readWholeLog(redis: Redis, runId: string): AsyncGenerator<LoggedEvent> {
  let after = 0;
  for (;;) {
    const page = await readLog(redis, runId, { after });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** When the last event of a run was recorded, in milliseconds since the epoch. */
export async function lastEventAt(redis: Redis, runId: string): Promise<number | undefined> {
  return (await lastEventTimes(redis, [runId]))[0];
}

/** The same of several runs at once; undefined where there is no event. */
export async function lastEventTimes(redis: Redis, runIds: readonly string[]): Promise<(number | undefined)[]> {
  const commands = runIds.map((id) => ['xrevrange', logKey(id), '+', '-', 'COUNT', '1']);
  const replies = (await redis.pipeline(commands).exec()) ?? [];
  return replies.map(([error, entries], at) => {
    if (error) throw error;
    const [entry] = entries as [string, string[]][];
    return entry === undefined ? undefined : timeOf(runIds[at] ?? '', entry);
  });
}

/** The sequence number of the last event before a time; 0: none. A binary search, because events are in the order of their times. */
export async function seqBefore(redis: Redis, runId: string, time: number): Promise<number> {
  const [last] = await redis.xrevrange(logKey(runId), '+', '-', 'COUNT', 1);
  if (last === undefined) return 0;
  let [low, high] = [0, seqOf(last)];
  if (timeOf(runId, last) < time) return high;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = await redis.xrange(logKey(runId), `${middle}-0`, '+', 'COUNT', 1);
    if (entry !== undefined && timeOf(runId, entry) < time) low = middle;
    else high = middle;
  }
  return low;
}

type Entry = [id: string, fields: string[]];
const seqOf = ([id]: Entry): number => Number(id.slice(0, id.indexOf('-')));
const eventOf = (runId: string, entry: Entry): LoggedEvent => fromStored(runId, seqOf(entry), entry[1][1] ?? '');
const entryOf = (runId: string, entry: Entry): Promise<LoggedEvent | Damaged> =>
  readEntry(`${runId}:${seqOf(entry)}`, () => eventOf(runId, entry));
const timeOf = (runId: string, entry: Entry): number => Date.parse(eventOf(runId, entry).time);

/** The events as stored text (`recorded-event.ts`), not parsed: for a search through all logs. */
export async function* readRawLog(redis: Redis, runId: string): AsyncGenerator<string> {
  for await (const { text } of readRawLogEntries(redis, runId)) yield text;
}

/** The same with their sequence numbers. @param from.after begins with the first event after this sequence number */
export async function* readRawLogEntries(
  redis: Redis,
  runId: string,
  from: { after?: number } = {},
): AsyncGenerator<RawEntry> {
  for (let after = from.after ?? 0; ; ) {
    const entries = await redis.xrange(logKey(runId), `${after + 1}-0`, '+', 'COUNT', 500);
    for (const entry of entries) yield rawOf(entry);
    const last = entries.at(-1);
    if (last === undefined) return;
    after = seqOf(last);
  }
}

/** The same, newest first, from the last event before a sequence number. */
export async function* readRawLogBackwards(
  redis: Redis,
  runId: string,
  { before }: { before: number },
): AsyncGenerator<RawEntry> {
  for (let end = before - 1; end > 0; ) {
    const entries = await redis.xrevrange(logKey(runId), `${end}-0`, '-', 'COUNT', 500);
    for (const entry of entries) yield rawOf(entry);
    const last = entries.at(-1);
    if (last === undefined) return;
    end = seqOf(last) - 1;
  }
}

export interface RawEntry {
  seq: number;
  text: string;
}

const rawOf = (entry: Entry): RawEntry => ({ seq: seqOf(entry), text: entry[1][1] ?? '' });

/** The events with these sequence numbers, in this order; undefined where there is none. */
export async function readEvents(
  redis: Redis,
  runId: string,
  seqs: readonly number[],
): Promise<(LoggedEvent | Damaged | undefined)[]> {
  if (seqs.length === 0) return [];
  const commands = seqs.map((seq) => ['xrange', logKey(runId), `${seq}-0`, `${seq}-0`]);
  const replies = (await redis.pipeline(commands).exec()) ?? [];
  return Promise.all(
    replies.map(([error, entries]) => {
      if (error) throw error;
      const [entry] = entries as Entry[];
      return entry && entryOf(runId, entry);
    }),
  );
}
