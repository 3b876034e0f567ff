import type { ToolContext } from '../tool.ts';

/** Throws `FileError` EGLOBINVALID for an unusable pattern, by the same parser as a glob. A leading `!` inverts the pattern. */
export async function checkGlob({ files, signal }: ToolContext, pattern: string): Promise<void> {
  await files.glob({ patterns: [pattern.replace(/^!?\/?/, '')], depth: 0 }, signal);
}
