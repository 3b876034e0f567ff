import { z } from 'zod';

export const markSchema = z.enum(['good', 'bad']);
export type Mark = z.infer<typeof markSchema>;

export const markNoteSchema = z.string().min(1).max(2000);

/** What a person thinks of the work of a run. Sets of evaluations are made of marked runs. */
export const runMarkSchema = z.strictObject({
  mark: markSchema,
  note: markNoteSchema.optional().describe('Why'),
  by: z.string().describe('The caller that marked it'),
  at: z.iso.datetime({ offset: true }),
});
export type RunMark = z.infer<typeof runMarkSchema>;

/** PUT /v1/runs/{id}/mark. */
export const markRunSchema = runMarkSchema.pick({ mark: true, note: true });
export type MarkRun = z.infer<typeof markRunSchema>;
