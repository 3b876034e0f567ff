import { attempt, modelUsageSchema, stepEvent, z } from '../event.ts';

export const stepModelUsed = stepEvent('step.model_used', {
  data: {
    attempt,
    model: z.string(),
    usage: modelUsageSchema.describe('What one request of the tool used; recorded before the tool has the answer'),
  },
  line: ({ data: { model, usage } }, { call }) =>
    `${call} asked ${model}: ${usage.input_tokens + usage.output_tokens} tokens`,
});
