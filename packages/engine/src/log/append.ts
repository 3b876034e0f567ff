import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { eventSchema, type NewEvent, type RunEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { changesOf } from '../domain/changes/changes-of.ts';
import { runField, type Transition } from '../domain/index.ts';
import type { NewId } from '../domain/new-id.ts';
import { logKey, notificationChannel, stateKey } from './keys.ts';
import type { Fields } from './read-state.ts';

export interface AppendDeps {
  redis: Redis;
  newId: NewId;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export type Appended =
  | {
      ok: true;
      seq: number;
      open: number;
      parked: number;
      status: string;
      /** The requested fields, after the append. */
      returned: Fields;
      /** The server did not know the script: it was sent a second time, after later commands on the connection. */
      late: boolean;
    }
  | { ok: false; field: string; actual: string | null };

const source = readFileSync(new URL('./append.lua', import.meta.url), 'utf8');
const sha = createHash('sha1').update(source).digest('hex');

/**
 * Appends a transition to a run's log, atomically with its state. Every event is checked against its schema first: an event that does not
 * parse is never written.
 * @param options.returning fields of the state to return after the append
 * @returns the last sequence number and the run's counters, or the condition that did not hold; then nothing changed.
 */
export async function append(
  deps: AppendDeps,
  runId: string,
  transition: Transition,
  { returning = [] }: { returning?: readonly string[] } = {},
): Promise<Appended> {
  const events = transition.events.map((draft) => stamp(deps, runId, draft, transition.time));
  const changes = changesOf(events);
  const argv = [
    notificationChannel(runId),
    transition.before ?? '',
    transition.if.length,
    ...transition.if.flatMap(({ field, is }) => [field, is.length, ...is]),
    ...listOf(Object.entries(changes.values)),
    ...listOf(Object.entries(changes.increments)),
    3 + returning.length,
    runField.open.name,
    runField.parked.name,
    runField.status.name,
    ...returning,
    events.length,
    ...events.map((event) => JSON.stringify(event)),
  ];
  const { reply, late } = await evaluate(deps.redis, [stateKey(runId), logKey(runId)], argv);
  if (reply[0] === 0)
    return { ok: false, field: String(reply[1]), actual: reply[2] === null ? null : String(reply[2]) };
  const [, seq, open, parked, status, ...values] = reply;
  const returned = Object.fromEntries(returning.map((field, index) => [field, textOf(values[index])]));
  return {
    ok: true,
    seq: Number(seq),
    open: Number(open),
    parked: Number(parked),
    status: String(status),
    returned,
    late,
  };
}

function stamp(deps: AppendDeps, runId: string, draft: NewEvent, time = new Date(deps.now()).toISOString()): RunEvent {
  return eventSchema.parse({ id: deps.newId('event'), run_id: runId, time, ...draft });
}

/** Null stands for an absent field. */
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const listOf = (entries: [string, string | number][]): (string | number)[] => [entries.length, ...entries.flat()];

/** EVALSHA; then EVAL once if the server does not know the script because it is new or restarted. */
async function evaluate(
  redis: Redis,
  keys: string[],
  argv: (string | number)[],
): Promise<{ reply: unknown[]; late: boolean }> {
  try {
    return { reply: (await redis.evalsha(sha, keys.length, ...keys, ...argv)) as unknown[], late: false };
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return { reply: (await redis.eval(source, keys.length, ...keys, ...argv)) as unknown[], late: true };
  }
}
