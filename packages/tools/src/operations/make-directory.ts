import type { ToolContext } from '../tool.ts';

/** Makes a directory with its parents. `created` names them, parents first. Throws `FileError`. */
export async function makeDirectory(
  { files, signal }: ToolContext,
  { path }: { path: string },
): Promise<{ created: string[]; touched: readonly string[] }> {
  const { created } = await files.makeDirectory(path, signal);
  return { created, touched: created };
}
