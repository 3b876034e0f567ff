import { z } from 'zod';
import { runIdSchema, snapshotIdSchema, stepIdSchema } from './ids.ts';

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
