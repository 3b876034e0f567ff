import { z } from 'zod';
import type { modesSchema } from './permissions.ts';
import type { Json } from './tool.ts';
import type { Problem, StepStatus } from './vocabulary.ts';

/** The statuses of a call that never runs again. */
export type SettledStatus = Exclude<StepStatus, 'pending' | 'parked' | 'queued' | 'running' | 'deferred'>;

/** When a call was made, began and ended, from the run's log. */
export const callTimesSchema = z.strictObject({
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable().describe('null: it never began'),
  settled_at: z.iso.datetime(),
  queued_ms: z.int().describe('Milliseconds for which it could have run and no worker had it'),
  duration_ms: z.int().describe('Milliseconds from its first attempt to its end; 0 when it never began'),
});
export type CallTimes = z.infer<typeof callTimesSchema>;

/** Whose words a value is that the tool did not return: those of a person who knows what happened, or of a dry run. */
export const insteadSchema = z.enum(['confirmed', 'dry_run']);

/** A settled call. Its toolset makes the result that callers, later calls and models read from it. */
export interface SettledCall {
  tool: string;
  /** As the caller wrote them, before defaults. */
  args: Json;
  /** What ran in their place, because a person edited them. */
  edited?: Json | undefined;
  status: SettledStatus;
  /** What the tool returned; never a time. */
  value?: Json | undefined;
  /**
   * Set when the tool did not return the value. `confirmed`: its worker was lost, and a person says that the call took effect; the value is
   * `{confirmed_by, message}`. `dry_run`: the call was not made; the value is `{dry_run: true, not_made: {tool, args}, note}`.
   */
  instead?: z.infer<typeof insteadSchema> | undefined;
  error?: Problem | undefined;
  times: CallTimes;
  /** The toolset's settings of the run, with defaults. */
  settings: Json;
  modes: z.output<typeof modesSchema>;
}
