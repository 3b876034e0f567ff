import { FileError } from '@holdpoint/sandbox';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { ToolContext } from '../../tool.ts';
import { changedPaths } from './changed-paths.ts';
import type { EditedText } from './edit-text.ts';
import { type Failure, failure } from './failure.ts';
import { pathArgument, relativePath } from './path-argument.ts';
import { readTextFile } from './read-text.ts';
import { MAX_PATCH, shownPatch } from './shown-patch.ts';
import { MAX_TEXT_FILE, textArgument } from './text.ts';

/** Characters. What is longer than this is written with `write_file`. */
const MAX_OLD = 200_000;
const MAX_NEW = 1_000_000;

const input = z
  .strictObject({
    path: pathArgument.describe('File to change, relative to the workspace root'),
    old_string: textArgument
      .min(1)
      .max(MAX_OLD)
      .describe('Text to replace, exactly as it stands in the file, whitespace and line endings included'),
    new_string: textArgument.max(MAX_NEW).describe('Text to put in its place, taken literally'),
    replace_all: z.boolean().default(false).describe('Replace every occurrence instead of requiring exactly one'),
  })
  .refine(({ old_string, new_string }) => old_string !== new_string, {
    path: ['new_string'],
    error: 'equals old_string, so that nothing would change',
  });
type Args = z.output<typeof input>;

export const edit = defineTool({
  name: 'edit',
  description: `Replaces one text by another in a file of the workspace; every other byte stays as it is. Returns {path, replacements, lines, bytes, sha256, diff, diff_truncated}.
old_string must occur exactly once: include enough of the lines around it, or set replace_all. Take it from read_file's content (no line numbers). ENOMATCH names the nearest line of the file and says when only whitespace or line endings differ; EMULTIPLE lists the line numbers. A new file is made with write_file.`,
  effect: 'workspace',
  risk: 'medium',
  input,
  async execute(context, args) {
    for (let round = 1; ; round++) {
      const read = await readTextFile(context, args.path);
      if (!read.ok) return { ...read.failure, touched: [] };
      const { data, sha256 } = read.file;
      const result = await make(context, args, data, MAX_DIFF);
      if (result.status !== 'replaced') return { ...refusal(args, result), touched: [] };
      try {
        const written = await context.files.write(args.path, result.data, { expect: { sha256 } }, context.signal);
        const value = report(args, result, written.sha256);
        return { status: 'succeeded', value, ...(await changedPaths(context, args.path)) };
      } catch (error) {
        // Somebody else wrote in between: nothing of theirs is lost, the edit is made again on what is there now.
        if (!(error instanceof FileError && error.code === 'ECHANGED') || round === MAX_ROUNDS) throw error;
      }
    }
  },
  async preview(context, args) {
    const read = await readTextFile(context, args.path);
    if (!read.ok) return { kind: 'problem', message: read.failure.error.message };
    const result = await make(context, args, read.file.data, MAX_PATCH);
    if (result.status !== 'replaced') return { kind: 'problem', message: refusal(args, result).error.message };
    return { kind: 'diff', path: relativePath(args.path), patch: shownPatch(result) };
  },
});

function make({ text }: ToolContext, { path, ...replacement }: Args, data: Buffer, diffBytes: number) {
  return text.run('edit', { ...replacement, data, path: relativePath(path), diffBytes });
}

/** Of n concurrent edits one gets through each round. */
const MAX_ROUNDS = 10;
/** UTF-8 bytes of the diff in a result. */
const MAX_DIFF = 32 * 1024;

type Replaced = Extract<EditedText, { status: 'replaced' }>;

function report(
  args: Args,
  { count, lines, data, diff, diff_truncated }: Replaced,
  sha256: string,
): Record<string, unknown> {
  return {
    path: relativePath(args.path),
    replacements: count,
    lines,
    bytes: data.length,
    sha256,
    diff,
    diff_truncated,
  };
}

function refusal({ path }: Args, result: Exclude<EditedText, Replaced>): Failure {
  switch (result.status) {
    case 'multiple': {
      const { count, more, lines } = result;
      const times = more ? `more than ${count} times` : `${count} times`;
      return failure(
        'EMULTIPLE',
        `old_string occurs ${times} in ${path}, on the lines ${lines.join(', ')}${more ? ', …' : ''}.`,
        'Include more of the lines around the one you mean, or set replace_all.',
        { count, lines, ...(more && { more }) },
      );
    }
    case 'too_large':
      return failure(
        'EFILETOOLARGE',
        `${path} would have ${result.bytes} bytes; files of more than ${MAX_TEXT_FILE} bytes are not made by edit.`,
        'Replace less, or make the file with a command.',
        { bytes: result.bytes },
      );
    case 'no_match': {
      const { nearest } = result;
      const seen = nearest ? ` The nearest is line ${nearest.line}: ${JSON.stringify(nearest.text)}.` : '';
      return failure('ENOMATCH', `old_string does not occur in ${path}.${seen}`, noMatchHint(nearest?.differs_in), {
        nearest,
      });
    }
    default:
      return result satisfies never;
  }
}

function noMatchHint(differsIn: 'line_endings' | 'whitespace' | null | undefined): string {
  switch (differsIn) {
    case 'line_endings':
      return 'Only line endings differ (CRLF against LF, or no newline at the end of the file): repeat the call with the line endings of the file.';
    case 'whitespace':
      return 'Only whitespace differs: repeat the call with the whitespace of the file.';
    case null:
    case undefined:
      return 'Read the file again and copy old_string from its content.';
    default:
      return differsIn satisfies never;
  }
}
