import type { ToolContext } from '../tool.ts';

/** Throws `FileError` EGLOBINVALID for a pattern that no search can use, by the same parser as a glob. A leading `!` inverts it. */
export async function checkGlob({ files, signal }: ToolContext, pattern: string): Promise<void> {
  await files.glob({ patterns: [pattern.replace(/^!?\/?/, '')], depth: 0 }, signal);
}
