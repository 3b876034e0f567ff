import { z } from 'zod';
import type { modesSchema } from './permissions.ts';
import type { Json } from './tool.ts';
import type { Problem, StepStatus } from './vocabulary.ts';

/** The statuses of a call after its last attempt. */
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

/** The source of a value without a return of the tool: a person with knowledge of the call, or a dry run. */
export const insteadSchema = z.enum(['confirmed', 'dry_run']);

/** A settled call. Its toolset makes the result for callers, later calls and models from this record. */
export interface SettledCall {
  tool: string;
  /** As the caller wrote them, before defaults. */
  args: Json;
  /** The arguments of a person's edit, used in place of `args`. */
  edited?: Json | undefined;
  status: SettledStatus;
  /** The value returned by the tool; never a time. */
  value?: Json | undefined;
  /**
   * Set when the tool did not return the value. `confirmed`: the call's worker was lost, and a person confirms the effect of the call; the
   * value is `{confirmed_by, message}`. `dry_run`: the call was not made; the value is `{dry_run: true, not_made: {tool, args}, note}`.
   */
  instead?: z.infer<typeof insteadSchema> | undefined;
  error?: Problem | undefined;
  times: CallTimes;
  /** The toolset's settings of the run, with defaults. */
  settings: Json;
  modes: z.output<typeof modesSchema>;
}
