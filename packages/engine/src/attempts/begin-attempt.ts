import type { WorkerDeps } from '../deps.ts';
import { mayWrite, type RunState, type StepState, startAttempt } from '../domain/index.ts';
import type { BoundTransition, KnownState } from '../events/known-state.ts';
import { guardTree } from '../fencing/inspect-tree.ts';
import { type JobContext, untilCanceled } from '../jobs/index.ts';
import { append } from '../log/index.ts';
import { confirmFiles } from './begin-approved.ts';
import { type Executed, runAttempt } from './run-attempt.ts';

/** Another writer changed the step: before this worker started an attempt, or afterwards. */
export type Again = 'not started' | 'again';

/** A call that was made. `start`: the start of a call that is not in the log yet, to be recorded with the outcome. */
interface Begun {
  executed: Executed;
  start?: BoundTransition;
}

/**
 * Records the start of the next attempt and makes the call, unless the tree differs from the log or from the decision.
 * @param known the log position at which run and step were read: the append is refused after any other append
 */
export async function beginAttempt(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  context: JobContext,
  known: KnownState | undefined,
): Promise<Begun | Again | 'lost'> {
  const tree = await guardTree(deps, run, { id: step.id, writes: mayWrite(step) }, context);
  if (tree !== 'sound') return tree === 'moved' ? 'not started' : 'lost';
  const files = await confirmFiles(deps, run, step, context);
  if (files !== 'same') return files;
  const start = { ...startAttempt(run, step, deps.workerId), known };
  const next = { ...step, attempt: step.attempt + 1 };
  if (isHarmless(step)) return beginRead(deps, run, next, context, start);
  const started = await append(deps, run.id, start);
  if (!started.ok) return 'not started';
  return { executed: await runAttempt(deps, run, next, untilCanceled(context)) };
}

/** Whether a call leaves nothing behind when its start is refused afterwards. A tool that ends a task is not harmless. */
const isHarmless = ({ effect, status, call }: StepState): boolean =>
  effect === 'read' && status === 'queued' && call.sequential === undefined && call.beside === undefined;

/**
 * A tool host reads a file in less than a millisecond, and a separate append takes a write to the disk. The time is short, because a call
 * that ends its worker within this time is in no log.
 */
const soonMs = 3;

/**
 * Makes a call that only reads before its start is recorded. Outcome and start of a quick call are recorded in one append. The start of a
 * slower call is recorded while the call runs. A refused start discards the result.
 */
async function beginRead(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  context: JobContext,
  start: BoundTransition,
): Promise<Begun | 'not started'> {
  const ending = untilCanceled(context);
  const executing = runAttempt(deps, run, step, ending);
  const early = await within(executing, soonMs);
  if (early?.kind === 'result' && !early.result.created && !early.result.restore) return { executed: early, start };
  // Awaiting `executing` below throws its error. After a refused start neither the error nor the result counts.
  executing.catch(() => undefined);
  const started = await append(deps, run.id, start).catch((error: unknown) => {
    ending.abort('lock-lost');
    throw error;
  });
  if (started.ok) return { executed: await executing };
  ending.abort('lock-lost');
  return 'not started';
}

/** The value of a promise; undefined when the promise takes longer. */
function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
