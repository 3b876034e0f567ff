import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defaultTenant, eventSchema, type NewEvent, type RunEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { settledTurns, turnsAtOnce } from '../domain/fields/run.ts';
import { droppedColumns, settledColumns } from '../domain/fields/step.ts';
import { seqIs, type Transition } from '../domain/index.ts';
import { birthOf } from '../domain/standing.ts';
import { runFieldNames, type StoredStep, stepNames } from '../domain/state.ts';
import type { StateChanges } from '../domain/state-changes.ts';
import { changesOf } from '../events/changes-of.ts';
import type { BoundTransition } from '../events/known-state.ts';
import { endsApprovals, listEndsAhead } from './approval-history.ts';
import { logKey, notificationChannel, stateKey } from './keys.ts';
import { knownTenant, knowTenant, readTenant } from './known-tenants.ts';
import { listAhead, type Settle } from './run-lists.ts';
import { toStored } from './stored-event.ts';

export interface AppendDeps {
  redis: Redis;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The failed condition. */
interface Refused {
  field: string;
  actual: string | null;
}

/** The run after the append. */
interface After {
  seq: number;
  open: number;
  parked: number;
  status: string;
  /** The fields of the requested step and its run, after the append. */
  returned: StoredStep;
  /** The server did not know the script: the script was sent a second time, after later commands on the connection. */
  late: boolean;
}

export type Appended = ({ ok: true } & After) | ({ ok: false } & Refused);

/** `parts`: the number of appended parts. `refused`: why the next part was not appended. */
type AppendedSome = After & { parts: number; refused?: Refused | undefined };
export type AppendedParts = AppendedSome | { parts: 0; refused?: Refused | undefined };

const inLua = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');
const source = readFileSync(new URL('./append.lua', import.meta.url), 'utf8')
  .replace('--[[columns]]', inLua(settledColumns))
  .replace('--[[dropped]]', inLua(droppedColumns))
  .replace('--[[settled]]', `'${settledTurns}', ${turnsAtOnce}`)
  .replace('--[[run]]', inLua(runFieldNames))
  .replace('--[[step]]', inLua(stepNames));
const sha = createHash('sha1').update(source).digest('hex');

/**
 * Appends a transition to a run's log, atomically with its state. Every event is checked against its schema first: an event with a failed
 * check is never written.
 * @param options.returning id of a step: the fields of the step and of the run are returned
 * @returns the last sequence number and the run's counters, or the failed condition; then nothing changed.
 */
export async function append(
  deps: AppendDeps,
  runId: string,
  transition: BoundTransition,
  options: { returning?: string | undefined } = {},
): Promise<Appended> {
  return asWhole(await appendParts(deps, runId, [transition], options), 1);
}

/** The result of several transitions when all of them have to be appended. */
export function asWhole(appended: AppendedParts, parts: number): Appended {
  if (appended.parts === parts && 'seq' in appended) return { ok: true, ...appended };
  return { ok: false, field: '', actual: null, ...appended.refused };
}

/**
 * Appends several transitions in one atomic call, each under its own conditions. A refused transition ends the call: the transitions
 * before are appended, the transitions after are not. When the first transition is bound to a known state, conditions true in this state
 * are not sent: all transitions are refused when anything was appended since, and the state after the append is computed here.
 */
export async function appendParts(
  deps: AppendDeps,
  runId: string,
  transitions: readonly BoundTransition[],
  { returning = '' }: { returning?: string | undefined } = {},
): Promise<AppendedParts> {
  const now = new Date(deps.now()).toISOString();
  const stamped = transitions.map(({ events, time = now }) => events.map((draft) => stamp(runId, draft, time)));
  const known = transitions[0]?.known;
  const whole = known?.changesOf(transitions, stamped);
  const after = whole && returning !== '' ? known?.after(whole, returning) : undefined;
  const parts: Part[] =
    known && whole
      ? [{ if: [seqIs(known.seq)], events: stamped.flat(), changes: whole }]
      : transitions.map(({ if: conditions, before }, at) => {
          const events = stamped[at] ?? [];
          const bound = known && at === 0 ? [seqIs(known.seq), ...conditions] : conditions;
          return { if: bound, before, events, changes: changesOf(events) };
        });
  const argv = [notificationChannel(runId), after === undefined ? returning : '', parts.length];
  // The lists of approvals are by tenant, and go ahead of the append. With a known tenant nothing is awaited before the append is sent:
  // a caller sends its wake-up right behind it.
  const isKnown = knownTenant(deps.redis, runId) !== undefined;
  if (!isKnown && parts.some(({ events }) => endsApprovals(events))) await findTenant(deps.redis, runId, parts);
  const lists = parts.map((part) => addPart(argv, deps, runId, part));
  const { reply, late } = await evaluate(deps.redis, [stateKey(runId), logKey(runId)], argv);
  const [done, field, actual, seq, open, parked, status] = reply;
  const refused = textOf(field) === null ? undefined : { field: String(field), actual: textOf(actual) };
  for (const [at, { approvals }] of lists.entries()) approvals?.[at < Number(done) ? 'appended' : 'refused']();
  if (done === 0) return { parts: 0, refused };
  lists
    .slice(0, Number(done))
    .findLast(({ runs }) => runs !== undefined)
    ?.runs?.(Number(seq));
  return {
    parts: whole ? transitions.length : Number(done),
    refused,
    seq: Number(seq),
    open: Number(open),
    parked: Number(parked),
    status: String(status),
    returned: after ?? returnedOf(reply),
    late,
  };
}

/** A list of Redis has strings and nulls here. */
const returnedOf = (reply: unknown[]): StoredStep => {
  const run = reply.slice(fromReply, fromReply + runFieldNames.length);
  return { run, step: reply.slice(fromReply + run.length) } as unknown as StoredStep;
};
const fromReply = 7;

interface Part extends Pick<Transition, 'if' | 'before'> {
  events: readonly RunEvent[];
  changes: StateChanges;
}

interface Later {
  runs: Settle | undefined;
  approvals: ReturnType<typeof listEndsAhead>;
}

/** @returns the later changes of the lists, once the part is appended */
function addPart(
  argv: (string | number)[],
  deps: AppendDeps,
  runId: string,
  { if: conditions, before, events, changes }: Part,
): Later {
  const { marks, values, increments, raises, packed, overruled } = changes;
  argv.push(before ?? '', conditions.length);
  for (const { field } of conditions) argv.push(field);
  for (const { is } of conditions) argv.push(is.length, ...is);
  argv.push(marks.length);
  for (const { field, text, counter, by, width } of marks) argv.push(field, text, counter, by, width);
  for (const entries of [values, increments, raises]) addEntries(argv, entries);
  argv.push(packed.length, ...packed);
  addEntries(argv, overruled);
  argv.push(events.length);
  for (const event of events) argv.push(toStored(event));
  const tenant = knownTenant(deps.redis, runId) ?? defaultTenant;
  return {
    runs: listAhead(deps.redis, runId, { events, values }),
    approvals: listEndsAhead(deps.redis, runId, { tenant, events }),
  };
}

/** Keeps the tenant of the run for the lists. A new run is in no hash yet. */
async function findTenant(redis: Redis, runId: string, [first]: readonly Part[]): Promise<void> {
  const tenant = birthOf(first?.events ?? [])?.tenant ?? (await readTenant(redis, runId));
  knowTenant(redis, { id: runId, tenant });
}

function addEntries(argv: (string | number)[], entries: ReadonlyMap<string, string | number>): void {
  argv.push(entries.size);
  for (const [field, value] of entries) argv.push(field, value);
}

// The id follows from the stored text.
const stamp = (runId: string, draft: NewEvent, time: string): RunEvent =>
  eventSchema.parse({ id: '', run_id: runId, time, ...draft });

/** Null stands for an absent field. */
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** EVALSHA; then EVAL once if a new or restarted server does not know the script. */
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
