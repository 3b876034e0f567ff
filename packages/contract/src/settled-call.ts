import type { z } from 'zod';
import type { modesSchema } from './permissions.ts';
import type { Json } from './tool.ts';
import type { Problem, StepStatus } from './vocabulary.ts';

/** The statuses of a call that never runs again. */
export type SettledStatus = Exclude<StepStatus, 'pending' | 'parked' | 'queued' | 'running' | 'deferred'>;

/** When a call was made, began and ended, from the run's log. ISO 8601. */
export interface CallTimes {
  created_at: string;
  /** null: it never began. */
  started_at: string | null;
  settled_at: string;
  /** Milliseconds for which it could have run and no worker had it. */
  queued_ms: number;
  /** Milliseconds from its first attempt to its end; 0 when it never began. */
  duration_ms: number;
}

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
  error?: Problem | undefined;
  times: CallTimes;
  /** The toolset's settings of the run, with defaults. */
  settings: Json;
  modes: z.output<typeof modesSchema>;
}
