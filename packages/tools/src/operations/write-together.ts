import { posix } from 'node:path';
import { FileError } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';

/** A change of one file. `sha256`: the file as the plan saw it. Paths are relative to the root. */
export type FileChange =
  | { kind: 'add'; path: string; data: Buffer }
  | { kind: 'delete'; path: string; before: Buffer; sha256: string }
  | { kind: 'update'; path: string; data: Buffer; before: Buffer; sha256: string; moveTo?: string | undefined };

/** A change failed, and the changes before it could not all be taken back. */
export class HalfWritten extends Error {
  override readonly name = 'HalfWritten';
  readonly paths: readonly string[];

  constructor(paths: readonly string[], cause: unknown) {
    super(`these files stay changed: ${paths.join(', ')}`, { cause });
    this.paths = paths;
  }
}

/**
 * Makes all changes or none: when one fails, the changes before it are taken back, and a file that another call has changed since is left
 * alone. Nothing is removed before every other change is made and every file to remove is as the plan saw it.
 * @returns whether no link led to another file
 * @throws FileError `ECHANGED`, `EEXIST` or `ENOENT` when a file is not as the plan saw it; HalfWritten
 */
export async function writeTogether(context: ToolContext, changes: readonly FileChange[]): Promise<boolean> {
  const { files, signal } = context;
  const done: Undo[] = [];
  const deletions = changes.filter((change) => change.kind === 'delete');
  let isDirect = true;
  const write = async (path: string, data: Buffer, expect: { exists: false } | { sha256: string }) => {
    const written = await files.write(path, data, { expect }, signal);
    isDirect &&= written.path === path;
    return written.sha256;
  };
  try {
    for (const change of changes) {
      if (change.kind === 'add') {
        await write(change.path, change.data, { exists: false });
        done.push({ path: change.path, undo: () => files.remove(change.path) });
      }
      if (change.kind === 'update') await update(context, change, { write, done });
    }
    for (const { path, before, sha256 } of deletions) await write(path, before, { sha256 });
    for (const { path, before } of deletions) {
      await files.remove(path, {}, signal);
      done.push({ path, undo: () => files.write(path, before, { expect: { exists: false } }) });
    }
    return isDirect;
  } catch (error) {
    const left = await takeBack(done);
    if (left.length > 0) throw new HalfWritten(left, error);
    throw error;
  }
}

/** Runs without the signal of the call: a stopped call takes its changes back, too. */
interface Undo {
  path: string;
  undo: () => Promise<unknown>;
}

interface Made {
  write(path: string, data: Buffer, expect: { sha256: string }): Promise<string>;
  done: Undo[];
}

async function update(
  { files, signal }: ToolContext,
  { path, data, before, sha256, moveTo }: FileChange & { kind: 'update' },
  { write, done }: Made,
): Promise<void> {
  const written = await write(path, data, { sha256 });
  done.push({ path, undo: () => files.write(path, before, { expect: { sha256: written } }) });
  if (moveTo === undefined) return;
  await files.makeDirectory(posix.dirname(moveTo), signal);
  // A move keeps the mode of the file.
  await files.move(path, moveTo, { replace: false }, signal);
  done.push({ path: moveTo, undo: () => files.move(moveTo, path, { replace: false }) });
}

/** The last change first. @returns the paths that stay changed */
async function takeBack(done: readonly Undo[]): Promise<string[]> {
  const left: string[] = [];
  for (const { path, undo } of done.toReversed()) {
    await undo().catch((error: unknown) => {
      if (!(error instanceof FileError)) throw error;
      left.push(path);
    });
  }
  return left;
}
