import type { ModelLeft, ModelRetrying, ModelUsage, Problem } from '@holdpoint/contract';
import type { PlannerDecision, PlannerInput } from '@holdpoint/engine/worker';
import { ModelError } from '@holdpoint/models';
import { type Account, type ModelGate, outcomeOf } from '../model-gate/model-gate.ts';

/** A provider withheld an answer, and the run has another model to ask. The tokens of the answer count all the same. */
export class WithheldError extends ModelError {
  readonly usage: ModelUsage;

  constructor(model: string, usage: ModelUsage) {
    super({
      code: 'EMODELPOLICY',
      message: `${model} withheld its answer by the policy of its provider`,
      next: 'Say the task in other words, or use another model: add one to the fallbacks of the run.',
    });
    this.usage = usage;
  }
}

/** Why a request to a model failed, and when the model may be asked again. Times in milliseconds. */
export interface Failed {
  model: string;
  reason: Problem;
  /** The model will not answer before a person acts: the key, the account, the name or the address is wrong. */
  isGone: boolean;
  /** How long the provider wants no requests. */
  awayMs: number;
  /** Set when no request was sent: the run waits in the provider's line, and tries again after this time at the latest. */
  queuedMs?: number;
  /** The tokens of an answer that was withheld. */
  usage?: ModelUsage | undefined;
}

interface Known {
  input: Pick<PlannerInput, 'model' | 'modelWait' | 'modelsLeft' | 'spec'>;
  now: number;
  random: () => number;
}

/** After leaving a model, a run does not ask the model again for this long while another model can be asked. */
const coolDownMs = 5 * 60_000;
const goneMs = 60 * 60_000;
/** Failures of a model before the run asks the next model. */
const mostTries = 2;
/** A run does not wait for a provider away for longer than this while another model can be asked. */
const longAwayMs = 30_000;
const firstDelayMs = 2000;
const longestDelayMs = 5 * 60_000;
const longestAwayMs = 12 * 3_600_000;

/** The models of a run, in the order of asking. */
function modelsOf({ model, spec }: Pick<PlannerInput, 'model' | 'spec'>): string[] {
  const { goal } = spec;
  const fallbacks = goal.planner === 'model' ? (goal.fallbacks ?? []) : [];
  return [...new Set([model, ...fallbacks])];
}

/** The model to ask now: the model the run waits for, or the first model the run has not left recently. */
export function chooseModel({ input, now }: Omit<Known, 'random'>): string {
  if (input.modelWait !== undefined) return input.modelWait.next;
  return modelsOf(input).find((model) => isIn(input.modelsLeft[model], now)) ?? input.model;
}

/** Whether the run may ask a model besides this model now. */
export const hasOtherModel = ({ input, now }: Omit<Known, 'random'>, model: string): boolean =>
  modelsOf(input).some((one) => one !== model && isIn(input.modelsLeft[one], now));

/**
 * Decides after a failed request: the run asks another model at once or the same model later, or pauses when no model is left to ask or the
 * patience of the run is over.
 */
export function afterFailure({ input, now, random }: Known, failed: Failed): PlannerDecision {
  const wait = input.modelWait;
  const { model, reason } = failed;
  const { queuedMs } = failed;
  const asked = queuedMs === undefined ? 1 : 0;
  const tries = (wait?.model === model ? wait.tries : 0) + asked;
  const failures = (wait?.failures ?? 0) + asked;
  const since = wait?.since ?? iso(now);
  const all = modelsOf(input);
  const isLeft = failed.isGone || (all.length > 1 && (tries >= mostTries || failed.awayMs > longAwayMs));
  const left = isLeft ? { ...input.modelsLeft, [model]: { at: iso(now), code: reason.code } } : input.modelsLeft;
  const said = { model, failures, tries, since, reason, usage: failed.usage, ...(isLeft && { left }) };
  const queued = queuedMs === undefined ? {} : ({ queued: true } as const);
  const other = isLeft ? all.find((one) => one !== model && isIn(left[one], now)) : undefined;
  if (other !== undefined) return retrying({ ...said, next: other, until: iso(now) });
  const next = isLeft ? all.find((one) => !isGone(left[one], now)) : model;
  const endsAt = Date.parse(since) + input.spec.limits.model_patience_s * 1000;
  if (next === undefined || now >= endsAt)
    return { kind: 'unavailable', reason: exhausted(reason, now - Date.parse(since)) };
  const until = Math.min(now + (queuedMs ?? delay(failures, failed.awayMs, random)), endsAt);
  return retrying({ ...said, ...queued, next, until: iso(until) });
}

/** Reads a failure from an error when another request can help: later, or to another model. Undefined: another request cannot help. */
export function readFailure(error: unknown, model: string, hasOthers: boolean): Failed | undefined {
  if (!(error instanceof ModelError)) return undefined;
  const { code, message, next, retryable, retryAfterMs = 0, status } = error;
  const isGone = goneCodes.has(code) || status === 404;
  if (!retryable && !(isGone && hasOthers)) return undefined;
  const awayMs = Math.min(retryAfterMs, longestAwayMs);
  const usage = error instanceof WithheldError ? error.usage : undefined;
  return { model, reason: { code, message, next }, isGone, awayMs, usage };
}

const retrying = (data: ModelRetrying): PlannerDecision => ({ kind: 'retrying', retrying: data });

/**
 * Wait until the next request: the time the provider names, or else a growing backoff. From the fifth failure on, the backoff counts when
 * longer than the named time. The jitter spreads the requests of runs that failed together.
 */
function delay(failures: number, awayMs: number, random: () => number): number {
  const grown = (step: number): number => Math.min(firstDelayMs * 2 ** Math.min(step, 20), longestDelayMs);
  const backoff = failures > 0 ? grown(failures - 1) * (0.25 + 0.75 * random()) : 0;
  if (awayMs === 0) return Math.max(backoff, 500);
  const spread = random() * Math.min(awayMs / 10, 2000);
  return Math.max(awayMs + spread, failures > 4 ? backoff : 0);
}

const goneCodes: ReadonlySet<string> = new Set([
  ...['EMODELNAME', 'EMODELSETTINGS', 'EMODELAUTH', 'EMODELQUOTA', 'EMODELPOLICY', 'EMODELANSWER'],
]);

const isGone = (left: ModelLeft | undefined, now: number): boolean =>
  left !== undefined && goneCodes.has(left.code) && now - Date.parse(left.at) < goneMs;

/** Whether the run may ask a model: never left, or left long enough ago. */
const isIn = (left: ModelLeft | undefined, now: number): boolean =>
  left === undefined || (!isGone(left, now) && now - Date.parse(left.at) >= coolDownMs);

const iso = (ms: number): string => new Date(ms).toISOString();

function exhausted(reason: Problem, waitedMs: number): Problem {
  const waited = waitedMs < 60_000 ? '' : ` The run waited for it for ${Math.round(waitedMs / 60_000)} minutes.`;
  return { ...reason, message: `${reason.message}${waited}` };
}

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
