import { z } from 'zod';
import { runIdSchema, snapshotIdSchema, stepIdSchema, taskIdSchema } from './ids.ts';

/**
 * Where a forked run goes on from: another run, as its log told at sequence number `seq`, up to and with turn `turn`. What came before
 * is not copied; it is read there.
 */
export const forkedFromSchema = z.strictObject({
  run_id: runIdSchema,
  seq: z.int().min(1),
  step_id: stepIdSchema.nullable().describe('The last step that is kept; null: none is'),
  turn: z.int().min(0),
  snapshot: snapshotIdSchema,
  names: z.record(z.string(), stepIdSchema).describe('Named steps of that past, for references'),
});
export type ForkedFrom = z.infer<typeof forkedFromSchema>;

/** Whom a sub-agent works for. Its workspace begins as the other run's was at `snapshot`; nothing else of that run is told to it. */
export const parentSchema = z.strictObject({
  run_id: runIdSchema,
  step_id: stepIdSchema,
  task_id: taskIdSchema,
  snapshot: snapshotIdSchema,
  depth: z.int().min(1).describe('1: its parent is nobody’s sub-agent'),
});
export type Parent = z.infer<typeof parentSchema>;
