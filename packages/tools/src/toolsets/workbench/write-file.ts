import { FileError, type ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { wholeText } from '../../operations/read-text.ts';
import { changedPaths, relativePath, touchedPaths } from '../../operations/touched.ts';
import { previewWrite } from '../../operations/write-file.ts';
import { textArgument } from '../../text-work/text.ts';
import type { LookContext, ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { contentEncoding, decodeBase64, workspacePath } from './arguments.ts';

const input = z
  .strictObject({
    path: workspacePath.describe('File to write, relative to the workspace root'),
    content: textArgument.describe('The whole content of the file'),
    encoding: contentEncoding.describe('How content is written down'),
    createDirs: z.boolean().default(false).describe('Make missing directories of the path'),
  })
  .refine(({ content, encoding }) => encoding === 'utf-8' || decodeBase64(content) !== undefined, {
    path: ['content'],
    message: 'not base64 with padding and without white space',
  });

export const writeFile = builtInTool({
  name: 'write_file',
  description: `Creates a file with exactly this content, or replaces the whole content of one. Returns {path, size}. A person is asked before an existing file is replaced. With encoding base64, content is decoded first.`,
  effect: 'workspace',
  risk: 'medium',
  input,
  output: z.strictObject({ path: z.string(), size: z.int().describe('Bytes') }),
  touches: ({ path }) => touchedPaths('write', path),
  async asks(context, { path }) {
    return (await isFile(context, path)) ? `${relativePath(path)} exists and would be replaced` : undefined;
  },
  execute: writeContent,
  async preview(context, { path, content, encoding }) {
    const text = encoding === 'utf-8' ? content : wholeText(Buffer.from(content, 'base64'));
    if (text !== undefined) return previewWrite(context, { path, content: text, create_only: false });
    return { kind: 'problem', message: `${path} would get binary content.` };
  },
});

async function writeContent(
  context: ToolContext,
  { path, content, encoding, createDirs }: z.output<typeof input>,
): Promise<ToolOutcome> {
  const data = encoding === 'base64' ? Buffer.from(content, 'base64') : Buffer.from(content);
  // No person saw a file made after the look.
  const expect = context.approved ? ({ any: true } as const) : ({ exists: false } as const);
  const written = await context.files.write(path, data, { expect, parents: createDirs }, context.signal);
  const value = { path: relativePath(path), size: written.bytes };
  return { status: 'succeeded', value, ...changedPaths(path, written) };
}

/** Whether a write would replace something. A directory is refused without a question. */
async function isFile({ files, signal }: LookContext, path: string): Promise<boolean> {
  try {
    return (await files.stat(path, {}, signal)).type === 'file';
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return false;
    throw error;
  }
}
