import type { Json, SettledCall } from '@holdpoint/contract';
import { z } from 'zod';
import { errorOf } from './errors.ts';

const valueSchema = z.object({
  output: z.string().default(''),
  files_affected: z.array(z.string()).default([]),
  metadata: z.record(z.string(), z.json()).optional(),
});

/** The contract's result: `{success, output, files_affected, execution_time_ms, metadata?, error?}`. */
export function presentCliAgent(call: SettledCall): Json {
  const parsed = valueSchema.safeParse(call.value ?? {});
  // The words of a person or a dry run in place of the tool's value.
  const other = { output: JSON.stringify(call.value ?? null), files_affected: [], metadata: undefined };
  const { output, files_affected, metadata } = isOurs(call) && parsed.success ? parsed.data : other;
  const shared = {
    execution_time_ms: Math.max(0, Math.round(call.times.duration_ms)),
    ...(metadata !== undefined && { metadata }),
  };
  if (call.status === 'succeeded') return { success: true, output, files_affected, ...shared };
  const error = errorOf(call);
  return { success: false, output: `Error: ${error.message}`, files_affected: [], ...shared, error };
}

/** A failed call may have metadata alone. */
const isOurs = ({ status, value }: SettledCall): boolean =>
  status !== 'succeeded' || (typeof value === 'object' && value !== null && 'output' in value);
