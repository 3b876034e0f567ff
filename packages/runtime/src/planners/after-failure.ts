import type { ModelLeft, ModelRetrying, Problem } from '@holdpoint/contract';
import type { PlannerDecision, PlannerInput } from '@holdpoint/engine/worker';
import { ModelError } from '@holdpoint/models';

/** What is known when a model could not be asked. Times in milliseconds. */
export interface Failed {
  model: string;
  reason: Problem;
  /** It will not answer before a person acts: the key, the account, the name or the address is wrong. */
  isGone: boolean;
  /** How long its provider wants to be left alone. */
  awayMs: number;
  /** No request was sent: the run waits for its turn at the provider, and comes back by itself after this time. */
  queuedMs?: number;
}

interface Known {
  input: Pick<PlannerInput, 'model' | 'modelWait' | 'modelsLeft' | 'spec'>;
  now: number;
  random: () => number;
}

/** A model that was left is not asked for this long while another one can be. */
const coolDownMs = 5 * 60_000;
const goneMs = 60 * 60_000;
/** Failures of one model before the next one is asked. */
const mostTries = 2;
/** A provider that is away for so long is not waited for while another model can be asked. */
const longAwayMs = 30_000;
const firstDelayMs = 2000;
const longestDelayMs = 5 * 60_000;
const longestAwayMs = 12 * 3_600_000;

/** The models of a run, in the order in which they are asked. */
export function modelsOf({ model, spec }: Pick<PlannerInput, 'model' | 'spec'>): string[] {
  const { goal } = spec;
  const fallbacks = goal.planner === 'model' ? (goal.fallbacks ?? []) : [];
  return [...new Set([model, ...fallbacks])];
}

/** The model to ask now: that which the wait is for, or the first that was not left a short time ago. */
export function chooseModel({ input, now }: Omit<Known, 'random'>): string {
  if (input.modelWait !== undefined) return input.modelWait.next;
  return modelsOf(input).find((model) => isIn(input.modelsLeft[model], now)) ?? input.model;
}

/**
 * What follows when a model could not be asked: another model at once, the same one later, or a pause when no model is left to ask or the
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
  const said = { model, failures, tries, since, reason, ...(isLeft && { left }) };
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

/** The failure of a request that is worth another one: later, or to another model. Undefined: it is worth none. */
export function readFailure(error: unknown, model: string, hasOthers: boolean): Failed | undefined {
  if (!(error instanceof ModelError)) return undefined;
  const { code, message, next, retryable, retryAfterMs = 0, status } = error;
  const isGone = goneCodes.has(code) || status === 404;
  if (!retryable && !(isGone && hasOthers)) return undefined;
  const awayMs = Math.min(retryAfterMs, longestAwayMs);
  return { model, reason: { code, message, next }, isGone, awayMs };
}

const retrying = (data: ModelRetrying): PlannerDecision => ({ kind: 'retrying', retrying: data });

/**
 * A provider that names a time is asked then. One that keeps refusing is asked less and less often, whatever it names. The jitter parts the
 * requests of runs that failed together.
 */
function delay(failures: number, awayMs: number, random: () => number): number {
  const grown = (step: number): number => Math.min(firstDelayMs * 2 ** Math.min(step, 20), longestDelayMs);
  const backoff = failures > 0 ? grown(failures - 1) * (0.25 + 0.75 * random()) : 0;
  if (awayMs === 0) return Math.max(backoff, 500);
  const spread = random() * Math.min(awayMs / 10, 2000);
  return Math.max(awayMs + spread, failures > 4 ? backoff : 0);
}

const goneCodes: ReadonlySet<string> = new Set([
  ...['EMODELNAME', 'EMODELSETTINGS', 'EMODELAUTH', 'EMODELQUOTA', 'EMODELANSWER'],
]);

const isGone = (left: ModelLeft | undefined, now: number): boolean =>
  left !== undefined && goneCodes.has(left.code) && now - Date.parse(left.at) < goneMs;

/** Whether a model may be asked although it was left before. */
const isIn = (left: ModelLeft | undefined, now: number): boolean =>
  left === undefined || (!isGone(left, now) && now - Date.parse(left.at) >= coolDownMs);

const iso = (ms: number): string => new Date(ms).toISOString();

function exhausted(reason: Problem, waitedMs: number): Problem {
  const waited = waitedMs < 60_000 ? '' : ` The run waited for it for ${Math.round(waitedMs / 60_000)} minutes.`;
  return { ...reason, message: `${reason.message}${waited}` };
}
