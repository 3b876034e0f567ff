import type { PlannerDecision, PlannerInput } from '@holdpoint/engine/worker';
import { type Account, type ModelGate, outcomeOf } from '../model-gate/model-gate.ts';
import { afterFailure, chooseModel, modelsOf, readFailure } from './after-failure.ts';

export interface AskDeps {
  gate: ModelGate;
  accountOf(model: string): Account;
  /** Milliseconds since the epoch. */
  now: () => number;
  random: () => number;
}

/** Waits up to this time are not recorded in the log. */
const longestNapMs = 30_000;

/**
 * Asks the model due now, when its provider takes requests. No wait holds a worker: the wait is returned as a decision.
 * @throws the error of a request, when neither a later request nor another model helps
 */
export async function askPatiently<Answer>(
  deps: AskDeps,
  input: PlannerInput,
  request: (model: string) => Promise<Answer>,
  signal: AbortSignal,
): Promise<{ model: string; answer: Answer } | { decision: PlannerDecision }> {
  const { gate, random } = deps;
  const known = () => ({ input, now: deps.now(), random });
  const model = chooseModel(known());
  const hasOthers = modelsOf(input).length > 1;
  const failed = (error: unknown, closedMs: number) => {
    const failure = signal.aborted ? undefined : readFailure(error, model, hasOthers);
    if (failure === undefined) throw error;
    return { decision: afterFailure(known(), { ...failure, awayMs: Math.max(failure.awayMs, closedMs) }) };
  };
  let account: Account;
  try {
    account = deps.accountOf(model);
  } catch (error) {
    return failed(error, 0);
  }
  const entry = await gate.enter(account, { runId: input.runId, turn: input.turn });
  if (entry.kind === 'closed') {
    const { waitMs, closedMs, reason } = entry;
    const isNap = waitMs <= longestNapMs && (reason === undefined || input.modelWait !== undefined);
    if (isNap || reason === undefined) {
      return { decision: { kind: 'nap', until: deps.now() + Math.min(waitMs, longestNapMs) } };
    }
    const failed = { model, reason, isGone: false, awayMs: closedMs, queuedMs: waitMs };
    return { decision: afterFailure(known(), failed) };
  }
  try {
    const answer = await request(model);
    await entry.leave({ kind: 'ok' });
    return { model, answer };
  } catch (error) {
    const { closedMs } = await entry.leave(outcomeOf(error));
    return failed(error, closedMs);
  }
}
