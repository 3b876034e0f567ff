import { z } from 'zod';
import { imageTypes } from './image-header.ts';
import { outsideAgentSchema } from './outside-agent.ts';

export const reasoningEffortSchema = z.enum(['none', 'low', 'medium', 'high', 'max']);
export type ReasoningEffort = z.infer<typeof reasoningEffortSchema>;

/** How a model is asked. An absent option is the default of the model. */
export const modelOptionsSchema = z.strictObject({
  max_output_tokens: z.int().min(1).max(10_000_000).optional().describe('Tokens that one answer may have'),
  temperature: z.number().min(0).max(2).optional().describe('Not sent to models that take none'),
  reasoning_effort: reasoningEffortSchema.optional(),
});
export type ModelOptions = z.infer<typeof modelOptionsSchema>;

/** An image in a prompt. */
export const imageSchema = z.strictObject({
  media_type: z.enum(imageTypes),
  data: z.base64().min(4).max(7_000_000).describe('Base64; at most 5 MiB of image'),
});
export type Image = z.infer<typeof imageSchema>;

/** The fields of a model's goal apart from its prompt. */
export const modelGoalShape = {
  outside_agent: outsideAgentSchema.optional(),
  system: z.string().min(1).max(100_000).optional().describe('Instructions of the run, before those of the workspace'),
  instructions: z
    .boolean()
    .optional()
    .describe('Whether the model reads AGENTS.md and CLAUDE.md of the workspace. Default: true'),
  context: z
    .strictObject({
      tree: z.boolean().optional().describe('The first two levels of the tree'),
      skills: z.boolean().optional().describe('The skills of the repository, by name'),
      repo_map: z.boolean().optional().describe('The declarations that most files use, by the code graph'),
      git: z.boolean().optional().describe('The branch, what is changed already, and the last commits'),
      memory: z
        .boolean()
        .optional()
        .describe('Notes of earlier runs on the source, and the tool `remember`. Default: false'),
    })
    .optional()
    .describe('Parts of the instructions of the model, by name. Default: all but `memory`'),
  images: z.array(imageSchema).min(1).max(20).optional().describe('Images of the prompt'),
  fallbacks: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(10)
    .optional()
    .describe('provider/model, asked in this order while the model before it cannot be reached'),
  options: modelOptionsSchema.optional(),
  output_schema: z
    .record(z.string(), z.json())
    .optional()
    .describe('JSON Schema of the final answer. The model is asked again with the error when its answer does not fit'),
};
