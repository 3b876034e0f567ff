import { z } from 'zod';

/** The usage of a run and its sub-agents. A pause resets no count; `active_ms` counts for `wall_s`. */
export const usageSchema = z.strictObject({
  turn: z.int(),
  steps: z.int(),
  active_ms: z.int(),
  tokens: z.int(),
  cost_micros: z.int(),
  agents: z.int().default(0),
});
export type Usage = z.infer<typeof usageSchema>;
