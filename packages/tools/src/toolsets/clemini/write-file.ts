import { FileError } from '@holdpoint/contract';
import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { changedPaths, pathArgument, touchedPaths } from '../../operations/touched.ts';
import { previewWrite } from '../../operations/write-file.ts';
import { textArgument } from '../../text-work/text.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { allowedPath } from './bash.ts';

const mebibyte = 1024 * 1024;
const maxBackup = 32 * mebibyte;

export const writeFile = builtInTool({
  name: 'write_file',
  description:
    'Write a whole file; missing directories are made. Use it for new files and complete rewrites; to change a part of a file use edit. Returns: {success, bytes_written, created?, overwritten?, backup_created?}',
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({
    file_path: pathArgument.describe('File to write'),
    content: textArgument.describe('The whole new content'),
    backup: z.boolean().default(false).describe('Keep the old content as <file_path>.bak (default: false)'),
  }),
  output: z.strictObject({
    success: z.literal(true),
    bytes_written: z.int(),
    created: z.literal(true).optional(),
    overwritten: z.literal(true).optional(),
    backup_created: z.literal(true).optional(),
  }),
  touches: ({ file_path, backup }) => touchedPaths('write', file_path, ...(backup ? [`${file_path}.bak`] : [])),
  async execute(context, { file_path, content, backup }) {
    const allowed = await allowedPath(context, file_path);
    if (!allowed.ok) return allowed.failure;
    const old = backup ? await oldContent(context, allowed.real) : undefined;
    if (old === 'too large') {
      const message = `${file_path} has more than ${maxBackup} bytes, too many for a backup. Nothing was written.`;
      return { ...failure('EFBIG', message, 'Copy it with bash first, and write without backup.'), touched: [] };
    }
    const backed = old && (await writeBackup(context, `${file_path}.bak`, old));
    if (backed?.ok === false) return backed.failure;
    const written = await context.files.write(
      allowed.real,
      Buffer.from(content),
      { expect: { any: true } },
      context.signal,
    );
    const { bytes, created } = written;
    const value = {
      success: true,
      bytes_written: bytes,
      ...(created ? { created: true } : { overwritten: true }),
      ...(backed && { backup_created: true }),
    };
    // With a backup the snapshot must walk the tree.
    return { status: 'succeeded', value, ...(backed ? {} : changedPaths(allowed.real, written)) };
  },
  preview: (context, { file_path, content }) => previewWrite(context, { path: file_path, content, create_only: false }),
});

/** Undefined: there is no file. */
async function oldContent({ files, signal }: ToolContext, path: string): Promise<Buffer | 'too large' | undefined> {
  try {
    const { data, sha256 } = await files.read(path, { max_bytes: maxBackup }, signal);
    return sha256 === null ? 'too large' : data;
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The backup lies next to the caller's name for the file, possibly a link. */
async function writeBackup(context: ToolContext, path: string, data: Buffer) {
  const allowed = await allowedPath(context, path);
  if (allowed.ok) await context.files.write(allowed.real, data, { expect: { any: true } }, context.signal);
  return allowed;
}
