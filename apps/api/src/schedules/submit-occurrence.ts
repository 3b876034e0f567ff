import type { Callers, Holder } from '@holdpoint/callers';
import { isTerminal, type Occurrence } from '@holdpoint/contract';
import { pauseIfFailing, type ScheduleState, type Submitted, type Submitting } from '@holdpoint/engine';
import { ZodError } from 'zod';
import type { ServerDeps } from '../deps.ts';
import { toProblem } from '../errors/to-problem.ts';
import { submitRequest } from '../routes/runs/create-run.ts';
import { neededScopes, renderTemplate } from '../routes/schedules/check-schedule.ts';

export type SubmitDeps = ServerDeps & { callers: Pick<Callers, 'holderOfKey'> };
type Taken = Submitting['submitting'];

/**
 * Longer than a submission is tried, and shorter than any run is kept after its end: a run that is not found after this time may have been
 * there, so its occurrence gets no second run.
 */
const surelyKeptMs = 20 * 3600_000;

/**
 * Submits the run of an occurrence under the id that the schedule has stored. Whatever has happened before, the occurrence gets one run.
 * @throws an error that may pass, such as no space on the disk; the occurrence stays
 */
export async function submitOccurrence(deps: SubmitDeps, { submitting, ...state }: Submitting): Promise<Submitted> {
  // A process may have died after the submission: the run counts, whatever became of the key since.
  if ((await findRun(deps, state.tenant, submitting.run_id)) !== undefined)
    return submitted(deps, { submitting, ...state });
  const holder = await deps.callers.holderOfKey(state.key_id);
  const why = whyNoHolder(state, holder);
  if (holder === undefined || why !== undefined) return withoutKey(deps, { submitting, ...state }, why ?? '');
  try {
    await submit(deps, holder, state, submitting);
    return submitted(deps, { submitting, ...state });
  } catch (error) {
    const reason = refusalOf(error);
    if (reason !== undefined) return refused(deps, { submitting, ...state }, reason);
    const late = deps.now() - Date.parse(submitting.since);
    if (late < state.times.catch_up_s * 1000) throw error;
    return { state, recorded: record(deps, submitting, { outcome: 'missed', reason: textOf(error) }) };
  }
}

function submitted(deps: SubmitDeps, { submitting, ...state }: Submitting): Submitted {
  const { run_id, at: scheduled_for, since } = submitting;
  const running = [...state.running, { run_id, scheduled_for, since }];
  return { state: { ...state, running }, recorded: record(deps, submitting, { outcome: 'submitted' }) };
}

async function submit(
  deps: SubmitDeps,
  holder: Holder,
  state: Pick<ScheduleState, 'name' | 'run'>,
  { run_id, at, since }: Taken,
): Promise<void> {
  if (deps.now() - Date.parse(since) > surelyKeptMs)
    throw new TooLate('it is not known any more whether its run was made');
  const engine = deps.openEngine.as(holder.caller);
  await submitRequest({ ...deps, engine, holder }, renderTemplate(state, at), { runId: run_id });
}

class TooLate extends Error {}

function whyNoHolder({ runs_as }: ScheduleState, holder: Holder | undefined): string | undefined {
  if (holder === undefined) return `the key ${runs_as} was revoked or has expired`;
  const missing = neededScopes.filter((scope) => !holder.scopes.includes(scope));
  return missing.length === 0 ? undefined : `the key ${runs_as} has no scope ${missing.join(', ')} any more`;
}

/** Pauses the schedule. The caller who resumes it gives it another key. */
function withoutKey(deps: SubmitDeps, { submitting, ...state }: Submitting, reason: string): Submitted {
  const paused = { at: new Date(deps.now()).toISOString(), by: 'the schedule', reason };
  return { state: { ...state, paused }, recorded: record(deps, submitting, { outcome: 'refused', reason }) };
}

function refused(deps: SubmitDeps, { submitting, ...before }: Submitting, reason: string): Submitted {
  const state = { ...before, failures: before.failures + 1 };
  pauseIfFailing(state, deps.now());
  return { state, recorded: record(deps, submitting, { outcome: 'refused', reason }) };
}

/** Why the request can never be accepted as it is; undefined for an error that may pass. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof TooLate) return error.message;
  if (error instanceof ZodError) return error.issues[0]?.message ?? 'its request is not valid';
  const { status, code, detail } = toProblem(error);
  return status < 500 && status !== 429 ? `${code}: ${detail}` : undefined;
}

const textOf = (error: unknown): string => {
  const { code, detail } = toProblem(error);
  return `${code}: ${detail}`;
};

const record = (
  { now }: Pick<ServerDeps, 'now'>,
  { at, kind, run_id }: Taken,
  { outcome, reason }: Pick<Occurrence, 'outcome' | 'reason'>,
): Occurrence => ({
  ...{ scheduled_for: at, kind, outcome, recorded_at: new Date(now()).toISOString() },
  ...(outcome === 'submitted' ? { run_id } : { reason: reason?.slice(0, 1000) }),
});

/** Whether a run of a schedule has ended, and how. */
export async function readEnd(deps: Pick<ServerDeps, 'openEngine'>, tenant: string, runId: string) {
  const run = await findRun(deps, tenant, runId);
  if (run === undefined) return 'gone';
  if (!isTerminal(run.status)) return 'active';
  return run.status === 'succeeded' || run.status === 'failed' ? run.status : 'gone';
}

const findRun = ({ openEngine }: Pick<ServerDeps, 'openEngine'>, tenant: string, runId: string) =>
  openEngine.as({ name: 'schedules', kind: 'service', tenant }).runs.find(runId);
