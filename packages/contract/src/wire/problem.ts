import { z } from 'zod';
import { conflictSummarySchema } from '../publish.ts';

export const pointerErrorSchema = z.strictObject({
  pointer: z.string().describe('JSON pointer (RFC 6901) into the request body, or the name of a parameter'),
  detail: z.string(),
});
export type PointerError = z.infer<typeof pointerErrorSchema>;

/** An error (RFC 9457, application/problem+json). Programs read `code`; people read `detail` and `next`. */
export const problemDetailsSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().describe('The requested path'),
    code: z.string(),
    request_id: z.string().describe('Also in the log of the server'),
    trace_id: z.string().optional().describe('Of the traceparent of the request'),
    next: z.string().describe('What to do next'),
    errors: z.array(pointerErrorSchema).optional(),
    conflicts: z.array(conflictSummarySchema).optional().describe('With `publish_conflict`'),
    approval_id: z.string().optional().describe('With `publish_conflict`, when a decision can settle it'),
  })
  .meta({ id: 'Problem' });
export type ProblemDetails = z.infer<typeof problemDetailsSchema>;
