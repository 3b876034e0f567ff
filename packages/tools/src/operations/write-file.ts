import { FileError, type Preview, type ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { maxPatch, shownPatch } from './patch.ts';
import { changedPaths, relativePath } from './path-argument.ts';
import { readTextFile } from './read-text.ts';

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
  const { bytes, created, sha256 } = await context.files.write(
    path,
    Buffer.from(content),
    { expect: create_only ? { exists: false } : { any: true } },
    context.signal,
  );
  const value = { path: relativePath(path), created, bytes, sha256 };
  return { status: 'succeeded', value, ...(await changedPaths(context, path)) };
}

export async function previewWrite(context: ToolContext, { path, content, create_only }: NewContent): Promise<Preview> {
  const current = await currentData(context, path);
  if (current.problem !== undefined) return problem(current.problem);
  if (create_only && current.data !== null) return problem(`${path} already exists, and create_only is set.`);
  const change = { path: relativePath(path), before: current.data, after: content, diffBytes: maxPatch };
  return { kind: 'diff', path: relativePath(path), patch: shownPatch(await context.text.run('diff', change)) };
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

const problem = (message: string): Preview => ({ kind: 'problem', message });
