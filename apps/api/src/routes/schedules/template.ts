import type { Scope } from '@holdpoint/contract';
import { type CreateRunBody, createRunSchema } from '@holdpoint/contract/wire';

/** The key of a schedule has them. */
export const neededScopes: readonly Scope[] = ['schedules:write', 'runs:write'];

/** Labels of the runs of a schedule. */
export const scheduleLabels = ['schedule', 'scheduled_for'] as const;

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
