import type { Move } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';

/** Moves a file, a link or a directory. `touched` is absent for a directory: the snapshot then walks the tree. Throws `FileError`. */
export async function movePath(
  { files, signal }: ToolContext,
  { from, to, replace }: { from: string; to: string; replace: boolean },
): Promise<Move & { touched?: readonly string[] }> {
  const moved = await files.move(from, to, { replace }, signal);
  return { ...moved, ...(moved.type !== 'directory' && { touched: [moved.from, moved.to] }) };
}
