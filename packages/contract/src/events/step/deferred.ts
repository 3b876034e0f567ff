import { attempt, beginsSchema, stepEvent, taskIdSchema, z } from '../event.ts';

/** The blob with a text that the next attempt of the call gets back. */
export const outsideSchema = z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int() });

export const stepDeferred = stepEvent('step.deferred', {
  data: {
    attempt,
    until: z.iso.datetime(),
    task_id: taskIdSchema.optional().describe('The task that the call waits for'),
    outside: outsideSchema
      .optional()
      .describe(
        'The other side needs more time, and the next attempt asks it. Only the blob has what identifies the work',
      ),
    begins: beginsSchema.optional(),
  },
  line: ({ data }, { call }) =>
    data.task_id === undefined
      ? `${call} has no result yet, and asks again at ${data.until}`
      : `${call} until ${data.task_id} is over, or ${data.until}`,
});
