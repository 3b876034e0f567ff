import { posix } from 'node:path';
import { z } from 'zod';

const resultSchema = z.object({
  success: z.boolean(),
  output: z.string(),
  files_affected: z.array(z.string()).default([]),
  execution_time_ms: z.number(),
});

/** The contract's output for a person. @param input.directory absolute path of the working directory */
export function humanForm(result: unknown, { directory }: { directory: string }): string {
  const { success, output, files_affected, execution_time_ms } = resultSchema.parse(result);
  const locations = files_affected.map((path) => `  Location: ${posix.resolve(directory, path)}`);
  return [`${success ? '✓' : '✗'} ${output}`, ...locations, `  Time: ${execution_time_ms}ms`].join('\n');
}

/** The contract's output with `--json`. */
export function jsonForm(result: unknown, { tool }: { tool: string }): string {
  const { success, output, files_affected, execution_time_ms } = resultSchema.parse(result);
  return JSON.stringify({ tool, success, output, files_affected, execution_time_ms });
}
