import { z } from 'zod';
import { instructedSchema } from '../conversation.ts';

/** GET /v1/runs/{id}/instructions: what the model of a run reads before the conversation. */
export const instructionsSchema = z
  .strictObject({
    run_id: z.string(),
    system: z.string().nullable().describe('The whole text. null: the run has no model, or has not asked it yet'),
    files: instructedSchema.shape.files,
    agents: instructedSchema.shape.agents.unwrap(),
    environment: instructedSchema.shape.environment,
  })
  .meta({ id: 'Instructions' });
export type Instructions = z.infer<typeof instructionsSchema>;
