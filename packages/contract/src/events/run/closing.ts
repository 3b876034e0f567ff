import { event, payloadSchema, problemSchema, z } from '../event.ts';

/** How a run ends when its tasks are over. */
export const closingSchema = z.strictObject({
  as: z.enum(['succeeded', 'failed']),
  message: z.string(),
  reason: problemSchema.optional(),
  output: payloadSchema.optional(),
});

export const runClosing = event('run.closing', {
  data: closingSchema.shape,
  line: ({ data }) => [`${data.as}, when its background tasks have ended`, data.message].filter(Boolean).join(': '),
});
