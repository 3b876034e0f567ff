import { sendMessage } from '../commands/index.ts';
import { EngineError, type RunState, scopeOf } from '../domain/index.ts';
import { readError } from '../jobs/index.ts';
import { readRun, readSpec } from '../log/index.ts';
import type { OpenedPull } from '../ports/index.ts';
import { openRedisLock, type RedisLock } from '../redis/redis-lock.ts';
import { hasRounds, roundsUsed } from './choose.ts';
import { hearingOf, type Look, type Next, type PullDeps } from './looking.ts';
import { busyMs, lookAfterError, overMs } from './pace.ts';
import { readNews } from './read-news.ts';
import { type Message, type PullState, unansweredCode } from './state.ts';
import { pullLockKey, type StoredPull } from './store.ts';

const mostRounds = 500;
/** A wake-up may come so much earlier than its time. */
const earlyMs = 1000;
/** Another process looks at the pull request. */
const takenMs = 5000;

/**
 * Opens the looks at pull requests of this process. A look moves a pull request on until nothing is due. Any process may die at any point:
 * each message and each answer has its id in the record before it is sent. One process looks at a pull request at a time, because a code
 * host has no conditional write for an answer.
 */
export function openPullLooks(deps: PullDeps) {
  const locks = new Map<string, RedisLock>();
  const lockOf = (runId: string): RedisLock => {
    const known =
      locks.get(runId) ?? openRedisLock(deps.engine.redis, { key: pullLockKey(runId), lostMs: deps.lostMs });
    locks.set(runId, known);
    return known;
  };
  return async (runId: string, signal: AbortSignal): Promise<void> => {
    // The record decides: a wake-up that came late or twice does nothing.
    const dueAt = await deps.store.dueAt(runId);
    if (dueAt === undefined || dueAt > deps.engine.now() + earlyMs) return void locks.delete(runId);
    const ran = await lockOf(runId).tryRun((lost) => lookAtPull(deps, runId, AbortSignal.any([lost, signal])));
    if (ran) locks.delete(runId);
    else await deps.wake(runId, deps.engine.now() + takenMs);
  };
}

async function lookAtPull(deps: PullDeps, runId: string, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < mostRounds && !signal.aborted; round++) {
    const found = await deps.store.find(runId);
    if (found === undefined) return;
    const next = await moveOn(deps, found, signal);
    if (next === 'again') continue;
    if (next !== undefined) await deps.wake(runId, next);
    return;
  }
}

/** @returns when to look next; `again`: now; undefined: never */
async function moveOn(deps: PullDeps, found: StoredPull, signal: AbortSignal): Promise<number | 'again' | undefined> {
  const look: Look = { deps, found, signal };
  try {
    return await store(look, await act(look));
  } catch (error) {
    if (signal.aborted) return undefined;
    const now = deps.engine.now();
    const { problem, retryable } = readError(error);
    deps.engine.logger.warn({ run_id: found.state.run_id, err: error }, 'a pull request is looked at again');
    const state = { ...found.state, quiet: found.state.quiet + 1, problem, looked_at: new Date(now).toISOString() };
    return store(look, { state, wakeAt: lookAfterError(found.state, retryable, now) });
  }
}

async function store({ deps, found }: Look, next: Next | 'gone'): Promise<number | 'again' | undefined> {
  if (next === 'gone') {
    await deps.store.remove(found);
    return undefined;
  }
  const { state, wakeAt, decided } = next;
  const now = deps.engine.now();
  const isStored = await deps.store.put(
    { after: found, state, wakeAt: wakeAt === 'again' ? now : wakeAt, decided },
    now,
  );
  return isStored ? wakeAt : 'again';
}

async function act(look: Look): Promise<Next | 'gone'> {
  const { deps, found, signal } = look;
  const { state } = found;
  const run = await readRun(deps.engine.redis, state.run_id);
  if (run === undefined) return 'gone';
  if (state.status !== 'open') return { state, wakeAt: deps.engine.now() + overMs };
  if (state.sending !== undefined) return deliver(look, run, state.sending);
  const scope = scopeOf(run, await readSpec(deps.engine, run));
  const { run_id: runId, target, branch, commit, number } = state;
  const pull: OpenedPull = { call: { runId, scope, target, branch, commit, signal }, number };
  const [answer, ...answers] = state.answers;
  if (answer === undefined) return readNews(look, run, pull);
  const problem = await answerOne(deps, pull, answer);
  return { state: { ...state, answers, ...(problem && { problem }) }, wakeAt: 'again' };
}

/** What a code host says about one comment, such as one that was deleted. Any other refusal concerns all answers, which wait. */
const refusals: readonly string[] = ['EPULLREQUESTRIGHT', 'EPULLREQUESTREFUSED'];

/** A comment that was deleted takes no answer: the others are answered. @throws an error that concerns all answers */
async function answerOne(
  { port }: PullDeps,
  pull: OpenedPull,
  { to, nonce, commit }: PullState['answers'][number],
): Promise<PullState['problem']> {
  if (to.kind === 'check') return undefined;
  try {
    await port.answer({ ...pull, call: { ...pull.call, commit } }, { to: { kind: to.kind, id: to.id }, nonce });
    return undefined;
  } catch (error) {
    const { problem, retryable } = readError(error);
    if (pull.call.signal.aborted || retryable || !refusals.includes(problem.code)) throw error;
    return { ...problem, code: unansweredCode, message: `A comment was not answered. ${problem.message}` };
  }
}

/** Sends a message under the id that the record has. Whatever has happened before, the run gets it once. */
async function deliver(look: Look, run: RunState, sending: Message): Promise<Next> {
  const { deps, found } = look;
  const { message_id: id, text, by, wake, items } = sending;
  try {
    await sendMessage(deps.engine, run.id, { id, text, by, wake });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return undelivered(look, run.id, error);
  }
  const { sending: _, problem, ...state } = found.state;
  const heard = [...state.heard, ...items];
  return {
    state: { ...state, heard, quiet: 0, ...(problem?.code === unansweredCode && { problem }) },
    wakeAt: 'again',
  };
}

/** The message stays in the record. */
async function undelivered(look: Look, runId: string, error: EngineError): Promise<Next> {
  const { deps, found } = look;
  const { state } = found;
  const now = deps.engine.now();
  const { sending } = state;
  const run = await readRun(deps.engine.redis, runId);
  const hearing = run === undefined ? 'deaf' : hearingOf(run);
  // The run has ended since the message was made, so the message takes a round.
  if (hearing === 'ended' && sending?.wake === false) {
    if (!hasRounds(state)) return { state: { ...state, problem: roundsUsed(state) }, wakeAt: now + overMs };
    return { state: { ...state, rounds: state.rounds + 1, sending: { ...sending, wake: true } }, wakeAt: 'again' };
  }
  if (hearing === 'busy') return { state, wakeAt: now + busyMs };
  if (hearing === 'deaf') return { state: { ...state, problem: readError(error).problem }, wakeAt: now + overMs };
  throw error;
}
