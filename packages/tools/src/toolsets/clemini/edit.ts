import { FileError, type ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { type Failure, failure } from '../../operations/cut-short.ts';
import { editFile, type FileEdit, previewEdit } from '../../operations/edit-file.ts';
import { readTextFile } from '../../operations/read-text.ts';
import { changedPaths, pathArgument, touchedPaths } from '../../operations/touched.ts';
import { previewWrite } from '../../operations/write-file.ts';
import { textArgument } from '../../text-work/text.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { allowedPath } from './bash.ts';

const input = z
  .strictObject({
    file_path: pathArgument.describe('File to change'),
    old_string: textArgument.optional().describe('Text to replace, exactly as in the file; only a new file needs none'),
    new_string: textArgument.describe('Text in its place, taken literally'),
    replace_all: z.boolean().default(false).describe('Replace every occurrence (default: false)'),
    create_if_not_exists: z
      .boolean()
      .default(false)
      .describe('Make the file with new_string when there is none (default: false)'),
  })
  .refine(({ old_string, new_string }) => old_string !== new_string, {
    path: ['new_string'],
    error: 'equals old_string, so that nothing would change',
  })
  .refine(({ old_string = '', create_if_not_exists }) => old_string !== '' || create_if_not_exists, {
    path: ['old_string'],
    error: 'is missing: only create_if_not_exists can do without it',
  });

export const edit = builtInTool({
  name: 'edit',
  description:
    'Replace a text in a file; every other byte stays as it is. old_string must be exactly as in the file, without the line numbers of read_file, and occur once unless replace_all is set. Returns: {success, replacements, file_size, created?}',
  effect: 'workspace',
  risk: 'medium',
  input,
  output: z.strictObject({
    success: z.literal(true),
    replacements: z.int(),
    file_size: z.int().describe('Bytes'),
    created: z.literal(true).optional(),
  }),
  touches: ({ file_path }) => touchedPaths('write', file_path),
  async execute(context, { file_path, old_string = '', new_string, replace_all, create_if_not_exists }) {
    const allowed = await allowedPath(context, file_path);
    if (!allowed.ok) return allowed.failure;
    const { real: path } = allowed;
    if (create_if_not_exists && !(await exists(context, path))) return create(context, path, new_string);
    if (old_string === '') {
      const message = `${file_path} exists, so old_string is needed.`;
      return { ...failure('EINVALIDARGS', message, 'Say which text of the file new_string replaces.'), touched: [] };
    }
    const change = { path, old_string, new_string, replace_all };
    const outcome = await editFile(context, change);
    if (outcome.status === 'failed') return { ...(await refusal(context, change, outcome)), touched: [] };
    if (outcome.status !== 'succeeded') return outcome;
    const { replacements, bytes } = edited.parse(outcome.value);
    return { ...outcome, value: { success: true, replacements, file_size: bytes } };
  },
  async preview(context, { file_path: path, old_string = '', new_string, replace_all, create_if_not_exists }) {
    if (create_if_not_exists && !(await exists(context, path))) {
      return previewWrite(context, { path, content: new_string, create_only: true });
    }
    return previewEdit(context, { path, old_string, new_string, replace_all });
  },
});

const edited = z.object({ replacements: z.int(), bytes: z.int() });

async function exists({ files, signal }: ToolContext, path: string): Promise<boolean> {
  try {
    await files.stat(path, {}, signal);
    return true;
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return false;
    throw error;
  }
}

async function create(context: ToolContext, path: string, content: string): Promise<ToolOutcome> {
  const written = await context.files.write(path, Buffer.from(content), { expect: { exists: false } }, context.signal);
  const value = { success: true, replacements: 0, file_size: written.bytes, created: true };
  return { status: 'succeeded', value, ...changedPaths(path, written) };
}

const reported = z.object({
  lines: z.array(z.int()).optional(),
  count: z.int().optional(),
  nearest: z.object({ line: z.int(), text: z.string() }).nullish(),
});

/** In the words of the contract, with the matching or nearest lines. */
async function refusal(context: ToolContext, change: FileEdit, failed: Failure): Promise<Failure> {
  const { lines = [], count = 0, nearest } = reported.parse(failed.value ?? {});
  const { next = 'Read the file again.' } = failed.error;
  if (failed.error.code === 'ENOMATCH') {
    const suggestions = nearest ? [shown(nearest.text)] : [];
    return failure('ENOMATCH', 'String not found in file.', next, {
      suggestions,
      ...(nearest && { lines: [nearest.line] }),
    });
  }
  if (failed.error.code !== 'EMULTIPLE') return failed;
  const read = await readTextFile(context, change.path);
  if (!read.ok) return read.failure;
  const { data } = read.file;
  const all = data.toString().split('\n');
  const named = [...new Set(lines)].slice(0, maxSuggestions);
  const suggestions = named.map((line) => shown(all[line - 1] ?? ''));
  const { found } = await context.text.run('replace_first', { data, ...change });
  // The search for a single place stops early; occurrences within each other count there alone.
  const times = Math.max(found, count);
  const message = `String matches ${times} locations. Provide more context.`;
  return failure('EMULTIPLE', message, 'Or set replace_all to change all of them.', {
    suggestions,
    lines: named,
    locations: times,
  });
}

const maxSuggestions = 10;
const maxShown = 200;
const shown = (text: string): string => {
  const line = text.replace(/\r?\n$/, '').replace(/\r$/, '');
  return line.length > maxShown ? `${line.slice(0, maxShown)}…` : line;
};
