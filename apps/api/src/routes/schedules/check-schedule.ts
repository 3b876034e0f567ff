import { type Scope, scheduleNameSchema } from '@holdpoint/contract';
import { type CreateRunBody, createRunSchema, type PutScheduleBody } from '@holdpoint/contract/wire';
import { openClockwork, ScheduleTimesError } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem, PlacedError, toProblem } from '../../errors/to-problem.ts';
import { checkRequest } from '../runs/check-request.ts';
import { resolvePolicy } from '../runs/create-run.ts';

/** The key of a schedule has them. */
export const neededScopes: readonly Scope[] = ['schedules:write', 'runs:write'];

/** Labels of the runs of a schedule. */
const scheduleLabels = ['schedule', 'scheduled_for'] as const;

/**
 * The request of the run of an occurrence.
 * @throws ZodError when a text gets too long
 */
export function renderTemplate({ name, run }: { name: string; run: object }, scheduledFor: string): CreateRunBody {
  const words = { schedule: name, scheduled_for: scheduledFor.replace(/\.\d+Z$/, 'Z') };
  const filled = fill(run, words) as CreateRunBody;
  return createRunSchema.parse({ ...filled, labels: { ...filled.labels, ...words } });
}

/** Replaces the two names in all texts. Other braces stay. */
function fill(value: unknown, words: Record<(typeof scheduleLabels)[number], string>): unknown {
  if (typeof value === 'string')
    return value.replaceAll('{{scheduled_for}}', words.scheduled_for).replaceAll('{{schedule}}', words.schedule);
  if (Array.isArray(value)) return value.map((one) => fill(one, words));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, words)]));
}

/** Finds every mistake that a schedule would show only at its first occurrence. @throws ApiProblem `invalid_schedule`, or about the run */
export async function checkSchedule(deps: ApiDeps, name: string, { run, note: _, ...times }: PutScheduleBody) {
  checkName(name);
  checkTimes(times, deps.now());
  const taken = scheduleLabels.find((label) => run.labels[label] !== undefined);
  if (taken !== undefined) throw invalid(`/run/labels/${taken}`, 'each run of a schedule gets this label by itself');
  const body = renderTemplate({ name, run }, new Date(deps.now()).toISOString());
  try {
    await checkRequest(deps, { ...body, ...(await resolvePolicy(deps, body.policy)) });
  } catch (error) {
    throw inRun(error);
  }
}

function checkName(name: string): void {
  const { error } = scheduleNameSchema.safeParse(name);
  if (error !== undefined) throw invalid('/name', error.issues[0]?.message ?? 'not valid');
}

function checkTimes(times: Omit<PutScheduleBody, 'run' | 'note'>, now: number): void {
  try {
    if (openClockwork(times, now).after(now) !== undefined) return;
  } catch (error) {
    if (error instanceof ScheduleTimesError) throw invalid(`/${error.field}`, error.message);
    throw error;
  }
  const field = times.end_at === undefined ? '/cron' : '/end_at';
  throw invalid(field, 'it has no occurrence from now on');
}

/** A mistake of the run, at its place in the schedule. */
function inRun(error: unknown): unknown {
  const { errors } = toProblem(error);
  if (errors === undefined || !(error instanceof Error)) return error;
  const placed = errors.map((one) => ({ ...one, pointer: `/run${one.pointer}` }));
  return new PlacedError(error instanceof PlacedError ? error.cause : error, placed);
}

export function invalid(pointer: string, detail: string): ApiProblem {
  return new ApiProblem('invalid_schedule', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}

/** A schedule submits with the rights of the key that changes it. @throws ApiProblem `missing_scope` */
export function assertMaySubmit({ holder }: Pick<ApiDeps, 'holder'>): void {
  const missing = neededScopes.filter((scope) => !holder.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new ApiProblem('missing_scope', `your key has no scope ${missing.join(', ')}, which submits the runs`);
}
