import type { Preview } from '@holdpoint/contract';
import { FileError } from '@holdpoint/sandbox/errors';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { ToolContext } from '../../tool.ts';
import { changedPaths } from './changed-paths.ts';
import { pathArgument, relativePath } from './path-argument.ts';
import { readTextFile } from './read-text.ts';
import { MAX_PATCH, shownPatch } from './shown-patch.ts';
import { textArgument } from './text.ts';

/** UTF-8 makes at most three times as many bytes of them. */
const MAX_CHARS = 3_000_000;

const input = z.strictObject({
  path: pathArgument.describe('File to write, relative to the workspace root; missing directories are created'),
  content: textArgument.max(MAX_CHARS).describe('The whole new content, written exactly as given'),
  create_only: z
    .boolean()
    .default(false)
    .describe('Fail with EEXIST when the file exists already, instead of replacing it'),
});

export const writeFile = defineTool({
  name: 'write_file',
  description: `Creates a file or replaces its whole content. Returns {path, created, bytes, sha256}.
To change a part of an existing file use edit: it is safer and shorter. Set create_only when the file is meant to be new.`,
  effect: 'workspace',
  risk: 'medium',
  input,
  async execute(context, { path, content, create_only }) {
    const { bytes, created, sha256 } = await context.files.write(
      path,
      Buffer.from(content),
      { expect: create_only ? { exists: false } : { any: true } },
      context.signal,
    );
    const value = { path: relativePath(path), created, bytes, sha256 };
    return { status: 'succeeded', value, ...(await changedPaths(context, path)) };
  },
  async preview(context, { path, content, create_only }) {
    const current = await currentData(context, path);
    if (current.problem !== undefined) return problem(current.problem);
    if (create_only && current.data !== null) return problem(`${path} exists already, and create_only is set.`);
    const change = { path: relativePath(path), before: current.data, after: content, diffBytes: MAX_PATCH };
    const patch = shownPatch(await context.text.run('diff', change));
    return { kind: 'diff', path: relativePath(path), patch };
  },
});

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
