import { FileError } from '@holdpoint/sandbox/errors';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { Preview, ToolContext } from '../../tool.ts';
import { changedPaths } from './changed-paths.ts';
import { unifiedDiff } from './patch.ts';
import { pathArgument, relativePath } from './path-argument.ts';
import { readTextFile } from './read-text.ts';
import { decodeText, textArgument } from './text.ts';

const input = z.strictObject({
  path: pathArgument.describe('File to write, relative to the workspace root; missing directories are created'),
  content: textArgument.describe('The whole new content, written exactly as given'),
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
    const current = await currentText(context, path);
    if (current.problem !== undefined) return problem(current.problem);
    if (create_only && current.text !== null) return problem(`${path} exists already, and create_only is set.`);
    const patch = unifiedDiff({ path: relativePath(path), before: current.text, after: content });
    return { kind: 'diff', path: relativePath(path), patch };
  },
});

async function currentText(
  context: ToolContext,
  path: string,
): Promise<{ text: string | null; problem?: undefined } | { problem: string }> {
  try {
    const read = await readTextFile(context, path);
    return read.ok
      ? { text: withMark(read.file.data) }
      : { problem: `${read.failure.error.message} It would be replaced.` };
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return { text: null };
    throw error;
  }
}

/** A byte order mark that a write would drop belongs in its diff. */
function withMark(data: Buffer): string {
  const { text, bom } = decodeText(data);
  return bom ? `\uFEFF${text}` : text;
}

function problem(message: string): Preview {
  return { kind: 'problem', message };
}
