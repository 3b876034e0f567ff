import { z } from 'zod';
import { capabilityReportSchema } from './capabilities.ts';

/** What became of one validator. Of long output the head and the tail are kept. */
export const validatorResultSchema = z.strictObject({
  name: z.string(),
  command: z.string(),
  status: z.enum(['passed', 'failed', 'timed_out', 'killed']),
  exit_code: z.int().nullable(),
  detail: z.string().nullable().describe('Why it was ended, when it did not come to its own end'),
  stdout: z.string(),
  stdout_bytes: z.int(),
  stderr: z.string(),
  stderr_bytes: z.int(),
  duration_ms: z.number(),
  capabilities: capabilityReportSchema.describe('What the sandbox enforced'),
});
export type ValidatorResult = z.infer<typeof validatorResultSchema>;
