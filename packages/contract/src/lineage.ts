import { z } from 'zod';
import { runIdSchema, snapshotIdSchema, stepIdSchema, taskIdSchema } from './ids.ts';

/**
 * The run continued by a fork: its log up to sequence number `seq` and turn `turn`, both included. This history is not copied; readers take
 * the history from the original log.
 */
export const forkedFromSchema = z.strictObject({
  run_id: runIdSchema,
  seq: z.int().min(1),
  step_id: stepIdSchema.nullable().describe('The last step that is kept; null: none is'),
  turn: z.int().min(0),
  snapshot: snapshotIdSchema,
  names: z.record(z.string(), stepIdSchema).describe('Named steps of that history, for references'),
  other_policy: z
    .literal(true)
    .optional()
    .describe('The policy of the run is not that of the run that it continues, or that one had another already'),
});
export type ForkedFrom = z.infer<typeof forkedFromSchema>;

/**
 * The run above a sub-agent: the sub-agent works for this run. The sub-agent's workspace starts with the parent's `snapshot`; the sub-agent
 * sees nothing else of the parent.
 */
export const parentSchema = z.strictObject({
  run_id: runIdSchema,
  step_id: stepIdSchema,
  task_id: taskIdSchema,
  snapshot: snapshotIdSchema,
  depth: z.int().min(1).describe('1: the parent is not a sub-agent itself'),
});
export type Parent = z.infer<typeof parentSchema>;
