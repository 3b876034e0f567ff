import { FileError, type Preview, type ToolOutcome } from '@holdpoint/contract';
import { maxPatch, shownPatch } from '../text-work/patch.ts';
import type { ToolContext } from '../tool.ts';
import { readTextFile } from './read-text.ts';
import { changedPaths, relativePath } from './touched.ts';

export interface NewContent {
  path: string;
  content: string;
  /** Refuses to replace a file. */
  create_only: boolean;
}

/** Creates a file or replaces its whole content. */
export async function writeWholeFile(
  context: ToolContext,
  { path, content, create_only }: NewContent,
): Promise<ToolOutcome> {
  const data = Buffer.from(content);
  const written = await context.files.write(
    path,
    data,
    { expect: create_only ? { exists: false } : { any: true } },
    context.signal,
  );
  // The call wrote every line, so each error is its own.
  context.onWritten?.({ path: relativePath(path), before: Buffer.alloc(0), after: data });
  const { created, bytes, sha256 } = written;
  const value = { path: relativePath(path), created, bytes, sha256 };
  return { status: 'succeeded', value, ...changedPaths(path, written) };
}

/** @param change.diffBytes UTF-8 bytes of the diff. @default the size shown to a person before a decision */
export async function previewWrite(
  context: ToolContext,
  { path, content, create_only, diffBytes = maxPatch }: NewContent & { diffBytes?: number },
): Promise<Preview> {
  const current = await currentData(context, path);
  if (current.problem !== undefined) return problem(current.problem);
  if (create_only && current.data !== null) return problem(`${path} already exists, and create_only is set.`);
  const change = { path: relativePath(path), before: current.data, after: content, diffBytes };
  const patch = shownPatch(await context.text.run('diff', change), diffBytes);
  return { kind: 'diff', path: relativePath(path), patch };
}

async function currentData(
  context: ToolContext,
  path: string,
): Promise<{ data: Buffer | null; problem?: undefined } | { problem: string }> {
  try {
    const read = await readTextFile(context, path);
    return read.ok ? { data: read.file.data } : { problem: `${read.failure.error.message} It would be replaced.` };
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return { data: null };
    throw error;
  }
}

function problem(message: string): Preview {
  return { kind: 'problem', message };
}
