import type { Problem } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { EngineError, pauseRun, type RunState } from '../domain/index.ts';
import { append } from '../log/index.ts';
import type { RetryHints } from '../ports/index.ts';

/** The facts about a job for its handler. */
export interface JobContext {
  /** Aborted with an `AbortReason`. */
  signal: AbortSignal;
  /** Aborted when the call of a step is canceled. The job continues: the handler records the end of the call, and the next events. */
  canceled?: AbortSignal;
  /** The queue will not retry the job again. */
  lastTry: boolean;
  /**
   * Ends the job and fetches the next job, right after the handler's last commands to Redis: one fsync covers both. The handler then
   * returns at once and leaves further work to a new job. Without a call of `finish` the job ends when its handler returns.
   */
  finish?: () => void;
  /** Whether `finish` takes the next job of the queue of steps. */
  takesNextStep?: () => boolean;
}

/** Why a running attempt is interrupted. `canceled`: its run is, or its step alone; `lock-lost`: another worker has the job; `shutdown`: this worker is ending. */
export type AbortReason = 'canceled' | 'lock-lost' | 'shutdown';

/**
 * The end of a job: done, or asleep (delayed) until a time or a wake-up. `seen`: the sequence number of the run on which the handler acted;
 * without `seen`, no later wake-up has the id of this finished job.
 */
export type JobEnd = { kind: 'done'; seen?: number } | JobSleep;

/** @param awaits its run stands in line for a place */
export interface JobSleep {
  kind: 'sleep';
  until: number;
  seen?: number;
  awaits?: 'place';
}

export const done: JobEnd = { kind: 'done' };

/** The run needs nothing more of this job now. A later wake-up may have the same id, so the worker looks again when the job is gone. */
export const doneAt = (run: { seq: number } | undefined): JobEnd => ({ kind: 'done', seen: run?.seq ?? 0 });

/** Thrown by a handler to give its job back to the queue at once: nothing was decided here. */
export class HandBack extends Error {
  override name = 'HandBack';
}

/** BullMQ aborts with the reason as a string, or as the message of an error. */
export function abortReason(signal: AbortSignal): AbortReason | undefined {
  if (!signal.aborted) return undefined;
  const reason: unknown = signal.reason;
  const text = reason instanceof Error ? reason.message : String(reason);
  if (text === 'canceled' || text === 'shutdown') return text;
  return 'lock-lost';
}

/**
 * The same job, with a signal for its call alone: the cancel of the step aborts the signal, too. `AbortSignal.any` costs 14 µs, a listener
 * 1 µs.
 */
export function untilCanceled(context: JobContext): JobContext & { abort(reason: AbortReason): void } {
  const { signal, canceled } = context;
  const ending = new AbortController();
  const abort = (reason: unknown) => ending.abort(reason);
  for (const one of canceled === undefined ? [signal] : [signal, canceled]) {
    if (one.aborted) abort(one.reason);
    else one.addEventListener('abort', () => abort(one.reason), { once: true });
  }
  return { ...context, signal: ending.signal, abort };
}

/** Throws when the worker is ending or has lost the job: nothing may be recorded then. */
export function leaveIfAborted(signal: AbortSignal): void {
  const reason = abortReason(signal);
  if (reason === 'shutdown') throw new HandBack();
  if (reason === 'lock-lost') throw lockLost();
}

export const lockLost = () => new EngineError('superseded', 'the lock of the job was lost; another worker has it');

/** Reads an exception of an adapter as a problem. An error that says nothing of itself may be retried. */
export function readError(error: unknown): { problem: Problem; retryable: boolean; retryAfterMs?: number } {
  const hints = (typeof error === 'object' && error !== null ? error : {}) as RetryHints;
  const code = typeof hints.code === 'string' ? hints.code : 'EINFRASTRUCTURE';
  const next = typeof hints.next === 'string' ? hints.next : undefined;
  return {
    problem: { code, message: error instanceof Error ? error.message : String(error), next },
    retryable: hints.retryable !== false,
    retryAfterMs: typeof hints.retryAfterMs === 'number' ? hints.retryAfterMs : undefined,
  };
}

/** After an infrastructure error: throws while the queue may retry the job; otherwise the run pauses, so that it is not lost. */
export async function pauseOrRetry(
  deps: WorkerDeps,
  run: RunState,
  error: unknown,
  context: JobContext,
): Promise<'lost'> {
  const { problem, retryable } = readError(error);
  if (abortReason(context.signal) !== undefined || (retryable && !context.lastTry)) throw error;
  await append(deps, run.id, pauseRun(run, problem));
  return 'lost';
}
