import * as contract from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { EngineDeps } from '../deps.ts';
import { fromPayload, readLog, readSpec, readSteps } from '../log/index.ts';
import type { PastConversation, PastTurn, RunDecision, SettledStep } from '../ports/index.ts';
import { presentStep } from '../queries/list-results.ts';
import * as pastLog from './past-log.ts';
import { readNews } from './past-news.ts';

/** Caps the pasts of one connection, in characters of their JSON. The rest of a past is small. */
const mostKept = 64 * 1024 * 1024;
const mostRuns = 64;

interface Kept {
  past: pastLog.PastLog;
  size: number;
}

/** By connection: pasts of runs whose turns this process planned, the latest last. */
const kept = new WeakMap<Redis, Map<string, Kept>>();

const takePast = (redis: Redis, runId: string): pastLog.PastLog | undefined => kept.get(redis)?.get(runId)?.past;

/** Keeps a past for the next turn of its run. Drops the least recently used runs first. */
function keepPast(redis: Redis, past: pastLog.PastLog, size: number): void {
  const all = kept.get(redis) ?? new Map<string, Kept>();
  kept.set(redis, all);
  all.delete(past.runId);
  all.set(past.runId, { past, size });
  let total = [...all.values()].reduce((sum, one) => sum + one.size, 0);
  for (const [runId, one] of all) {
    if (total <= mostKept && all.size <= mostRuns) break;
    all.delete(runId);
    total -= one.size;
  }
}

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>;

/**
 * The conversation of a run for its model. Turns covered by a summary are left out. A process that planned the previous turn reads only
 * newer events, so a turn late in a run takes no longer than an early turn.
 */
export async function readConversation(deps: Deps, runId: string): Promise<PastConversation> {
  const past = await readPast(deps, runId);
  const summarised = past.compactions.findLast(({ how }) => how === 'summarised');
  const through = summarised?.through_turn ?? 0;
  forget(past, through);
  const after = past.turns.filter(({ turn }) => turn > through);
  const turns = await readTurns(deps, past, after);
  const compactions = await Promise.all(past.compactions.map((one) => readCompaction(deps, one, one === summarised)));
  const { instructed, toolchains, absent } = past;
  const text = instructed && { ...instructed, system: String(await fromPayload(deps.blobs, instructed.system)) };
  keepPast(deps.redis, past, sizeOf(after));
  const unread = [...past.carried, ...past.messages.slice(past.read)];
  const last = past.turns.at(-1)?.turn ?? 0;
  const told = { notified: textsOf(past.notices), given: givenIn(past), news: readNews(past.news, last) };
  return { turns, unread, ...told, instructed: text, compacted: compactions.at(-1), compactions, toolchains, absent };
}

const textsOf = (notices: readonly contract.Notified[]): string[] => notices.map(({ text }) => text);

/** Turns replaced by a summary count as well: a notice is given once. */
const givenIn = ({ turns, notices }: pastLog.PastLog): ReadonlySet<string> =>
  new Set(
    [...turns.flatMap((turn) => turn.notices), ...notices]
      .flatMap((one) => one.notices)
      .map(({ kind, about }) => `${kind} ${about}`),
  );

/** The logged past of a run. */
async function readPast(deps: Deps, runId: string): Promise<pastLog.PastLog> {
  const known = takePast(deps.redis, runId);
  if (known !== undefined && (await readOn(deps, known))) return known;
  const past = pastLog.emptyPast(runId);
  await readOn(deps, past);
  return past;
}

/** @returns false when the log was replaced since the past was read */
async function readOn(deps: Deps, past: pastLog.PastLog, until = Number.POSITIVE_INFINITY): Promise<boolean> {
  // Reads the last known event again, to check that the log still has the same event.
  let after = Math.max(0, past.seq - 1);
  for (;;) {
    const page = await readLog(deps.redis, past.runId, { after, limit: eventsAtOnce });
    const [first] = page;
    if (past.seq > 0 && after === past.seq - 1 && (first === undefined || pastLog.markOf(first) !== past.last))
      return false;
    for (const event of page) {
      if (event.seq > until) return true;
      if (event.type === 'run.created' && event.data.forked_from !== undefined && past.seq === 0) {
        const { run_id, seq, turn } = event.data.forked_from;
        const other = pastLog.emptyPast(run_id);
        await readOn(deps, other, seq);
        if (past.seq === 0) pastLog.inherit(past, other, turn);
      }
      pastLog.addToPast(past, event);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < eventsAtOnce) return true;
    after = last.seq;
  }
}

/** Drops the cached turns below a summary. Only an undo to a turn before the summary reads them again. */
function forget({ turns }: pastLog.PastLog, through: number): void {
  for (const turn of turns) {
    if (turn.turn > through) return;
    delete turn.read;
    for (const step of turn.steps) delete step.read;
  }
}

async function readTurns(deps: Deps, past: pastLog.PastLog, turns: readonly pastLog.LoggedTurn[]): Promise<PastTurn[]> {
  await readResults(deps, past.runId, turns);
  return Promise.all(turns.map((turn) => readTurn(deps, turn)));
}

async function readTurn(deps: Deps, logged: pastLog.LoggedTurn): Promise<PastTurn> {
  if (logged.read !== undefined) return logged.read;
  const { answer, steps, notices, read: _, ...turn } = logged;
  const read = async (step: pastLog.LoggedStep) => step.read ?? (await readStepOf(deps, step));
  const past: PastTurn = {
    ...turn,
    ...(notices.length > 0 && { notified: textsOf(notices) }),
    answer: answer && (await fromPayload(deps.blobs, answer)),
    steps: await Promise.all(steps.map(read)),
  };
  if (pastLog.isOver(logged)) logged.read = past;
  return past;
}

async function readStepOf(
  deps: Deps,
  { id, call, args, status, error, grants }: pastLog.LoggedStep,
): Promise<SettledStep> {
  const step: SettledStep = { id, ...call, args: await fromPayload(deps.blobs, args), status };
  if (error !== undefined) step.error = error;
  if (grants.length > 0) step.decided = await Promise.all(grants.map((grant) => readDecision(deps, grant)));
  return step;
}

async function readDecision(
  deps: Deps,
  { decision, args, message, indeterminate }: contract.Grant,
): Promise<RunDecision> {
  return {
    decision,
    ...(args === undefined ? {} : { args: await fromPayload(deps.blobs, args) }),
    message,
    isIndeterminate: indeterminate === true,
  };
}

/** Reads the results from the state of the steps, with the status from the log: an undo after a fork is no part of the fork's past. */
async function readResults(deps: Deps, runId: string, turns: readonly pastLog.LoggedTurn[]): Promise<void> {
  const due = turns
    .flatMap(({ steps }) => steps)
    .filter(({ status, read }) => contract.isSettled(status) && read === undefined);
  if (due.length === 0) return;
  const spec = await readSpec(deps, { id: runId });
  for (const [owner, steps] of Map.groupBy(due, (step) => step.owner)) {
    for (let from = 0; from < steps.length; from += stepsAtOnce) {
      const some = steps.slice(from, from + stepsAtOnce);
      const states = await readSteps(
        deps.redis,
        owner,
        some.map(({ id }) => id),
      );
      const byId = new Map(states.map((state) => [state.id, state]));
      for (const step of some) {
        const state = byId.get(step.id);
        const native = state && (await presentStep(deps, spec, { ...state, status: step.status }));
        step.read = { ...(await readStepOf(deps, step)), native, long: await readLong(deps, state?.outcome?.long) };
      }
    }
  }
}

/** Undefined for a short result, and for a record of another shape: the result is then shortened like any other. */
async function readLong(deps: Deps, payload: contract.Payload | undefined): Promise<contract.LongResult | undefined> {
  if (payload === undefined) return undefined;
  return contract.longResultSchema.safeParse(await fromPayload(deps.blobs, payload)).data;
}

const eventsAtOnce = 500;
const stepsAtOnce = 100;

async function readCompaction(
  deps: Deps,
  { summary, carried, ...one }: pastLog.LoggedCompaction,
  counts: boolean,
): Promise<NonNullable<PastConversation['compacted']>> {
  const read = async (payload: contract.Payload | undefined) =>
    counts && payload !== undefined ? await fromPayload(deps.blobs, payload) : undefined;
  const text = await read(summary);
  return { ...one, summary: text === undefined ? undefined : String(text), carried: await read(carried) };
}

/** Characters of JSON. */
const sizeOf = (turns: readonly pastLog.LoggedTurn[]): number =>
  turns.reduce(
    (sum, turn) => sum + bytesOf(turn.answer) + turn.steps.reduce((all, step) => all + sizeOfStep(step), 0),
    0,
  );

const sizeOfStep = ({ args, read }: pastLog.LoggedStep): number =>
  bytesOf(args) + (read?.native === undefined ? 0 : lengthOf(read.native));

const lengths = new WeakMap<object, number>();

/** A result is measured once. */
function lengthOf(native: unknown): number {
  if (typeof native !== 'object' || native === null) return String(native).length;
  const length = lengths.get(native) ?? JSON.stringify(native).length;
  lengths.set(native, length);
  return length;
}

const bytesOf = (payload: contract.Payload | undefined): number =>
  payload === undefined ? 0 : 'json' in payload ? lengthOf(payload.json) : payload.bytes;
