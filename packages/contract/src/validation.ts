import { z } from 'zod';
import { capabilityReportSchema } from './capabilities.ts';

/** The result of a validator. Long output keeps its head and its tail. */
export const validatorResultSchema = z.strictObject({
  name: z.string(),
  command: z.string(),
  status: z.enum(['passed', 'failed', 'timed_out', 'killed']),
  exit_code: z.int().nullable(),
  detail: z.string().nullable().describe('Why it was stopped; null: it ended by itself'),
  stdout: z.string(),
  stdout_bytes: z.int(),
  stderr: z.string(),
  stderr_bytes: z.int(),
  duration_ms: z.number(),
  capabilities: capabilityReportSchema.describe('What the sandbox enforced'),
});
export type ValidatorResult = z.infer<typeof validatorResultSchema>;
