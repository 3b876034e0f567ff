import { z } from 'zod';

export const pointerErrorSchema = z.strictObject({
  pointer: z.string().describe('JSON pointer (RFC 6901) into the request body, or the name of a parameter'),
  detail: z.string(),
});
export type PointerError = z.infer<typeof pointerErrorSchema>;

/** Why nothing was published; the source is as it was. */
export const conflictSchema = z.strictObject({ path: z.string(), reason: z.string(), detail: z.string() });
export type Conflict = z.infer<typeof conflictSchema>;

/** An error (RFC 9457, application/problem+json). Programs read `code`; people read `detail` and `next`. */
export const problemDetailsSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().describe('The path that was asked for'),
    code: z.string(),
    request_id: z.string().describe('Stands in the log of the server too'),
    next: z.string().describe('What to do now'),
    errors: z.array(pointerErrorSchema).optional(),
    conflicts: z.array(conflictSchema).optional().describe('With `publish_conflict`'),
    approval_id: z.string().optional().describe('With `publish_conflict`, when a decision can settle it'),
  })
  .meta({ id: 'Problem' });
export type ProblemDetails = z.infer<typeof problemDetailsSchema>;
