import { defaultTenant, type RunEvent, type RunStatus, runStatusSchema, type Tenant } from '@holdpoint/contract';
import { runField } from './fields/run.ts';
import type { StateChanges } from './state-changes.ts';

/** The properties by which lists and counts find a run: its status and, for a waiting or paused run, the reason. */
export interface Standing {
  status: RunStatus;
  reason: string | undefined;
}

/** The fields that give a run its standing. */
const { status, reason, parked, awaits_calls: awaitsCalls, model_wait: modelWait } = runField;
export const standingFields = [status.name, reason.name, parked.name, awaitsCalls.name, modelWait.name];

/** @param values of `standingFields`. Undefined: the run does not exist */
export function standingOf(values: readonly (string | null | undefined)[]): Standing | undefined {
  const [state, why, waiting, awaiting, model] = values.map((value) => value || undefined);
  const known = runStatusSchema.safeParse(state);
  if (!known.success) return undefined;
  if (known.data === 'paused') return { status: known.data, reason: codeOf(why) };
  if (known.data !== 'waiting') return { status: known.data, reason: undefined };
  if (Number(waiting ?? 0) > 0) return { status: known.data, reason: 'approval' };
  if (awaiting !== undefined) return { status: known.data, reason: 'calls' };
  return { status: known.data, reason: model === undefined ? 'task' : 'model' };
}

/** The standing of a run after events; undefined when they do not change the standing. */
export function standingAfter(events: readonly RunEvent[], values: StateChanges['values']): Standing | undefined {
  const known = runStatusSchema.safeParse(values.get(status.name));
  if (!known.success) return undefined;
  if (known.data === 'paused') return { status: known.data, reason: codeOf(values.get(reason.name)) };
  if (known.data !== 'waiting') return { status: known.data, reason: undefined };
  const wait = events.findLast((event) => event.type === 'run.waiting');
  return { status: known.data, reason: wait?.data.for ?? 'approval' };
}

function codeOf(text: string | undefined): string {
  const given = text === undefined ? {} : (JSON.parse(text) as { code?: unknown });
  return typeof given.code === 'string' ? given.code : 'unknown';
}

/** The tenant and labels of a run, under which the run is listed from its first event on. */
export function birthOf(
  events: readonly RunEvent[],
): { tenant: Tenant; title: string; labels: Readonly<Record<string, string>> } | undefined {
  const created = events.find((event) => event.type === 'run.created');
  if (created === undefined) return undefined;
  const { tenant = defaultTenant, title, labels } = created.data;
  return { tenant, title, labels };
}
