import { FileError, type Preview, type ToolOutcome } from '@holdpoint/contract';
import { maxPatch, shownPatch } from '../text-work/patch.ts';
import type { EditedText, Replacement } from '../text-work/replace-text.ts';
import { maxTextFile } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { type Failure, failure } from './cut-short.ts';
import { readTextFile } from './read-text.ts';
import { changedPaths, relativePath } from './touched.ts';

export interface FileEdit extends Replacement {
  path: string;
}

/** Several edits of a file. Each edit finds its text in the result of the edits before it. */
export interface FileEdits {
  path: string;
  edits: readonly Replacement[];
}

/** Replaces text in a file of the workspace; every other byte is unchanged. */
export const editFile = (context: ToolContext, edit: FileEdit): Promise<ToolOutcome> =>
  makeEdits(context, ofOne(edit), (replaced) => ({ lines: replaced.lines }));

/** Makes all edits of a file in a single write, or none. */
export const editFileTimes = (context: ToolContext, edits: FileEdits): Promise<ToolOutcome> =>
  makeEdits(context, edits, () => ({}));

const ofOne = ({ path, ...edit }: FileEdit): FileEdits => ({ path, edits: [edit] });

async function makeEdits(
  context: ToolContext,
  edit: FileEdits,
  more: (replaced: Replaced) => Record<string, unknown>,
): Promise<ToolOutcome> {
  for (let round = 1; ; round++) {
    const read = await readTextFile(context, edit.path);
    if (!read.ok) return { ...read.failure, touched: [] };
    const { data, sha256 } = read.file;
    const result = await applyEdit(context, edit, data, maxDiff);
    if (result.status !== 'replaced') return { ...refusal(edit, result), touched: [] };
    try {
      const written = await context.files.write(edit.path, result.data, { expect: { sha256 } }, context.signal);
      context.onWritten?.({ path: relativePath(edit.path), before: data, after: result.data });
      const value = { ...report(edit, result, written.sha256), ...more(result) };
      return { status: 'succeeded', value, ...changedPaths(edit.path, written) };
    } catch (error) {
      // Another call wrote in between. Its change is kept: the edit is repeated on the new content.
      if (!(error instanceof FileError && error.code === 'ECHANGED') || round === maxRounds) throw error;
    }
  }
}

export const previewEdit = (context: ToolContext, edit: FileEdit): Promise<Preview> =>
  previewEdits(context, ofOne(edit));

export async function previewEdits(context: ToolContext, edit: FileEdits): Promise<Preview> {
  const read = await readTextFile(context, edit.path);
  if (!read.ok) return { kind: 'problem', message: read.failure.error.message };
  const result = await applyEdit(context, edit, read.file.data, maxPatch);
  if (result.status !== 'replaced') return { kind: 'problem', message: refusal(edit, result).error.message };
  return { kind: 'diff', path: relativePath(edit.path), patch: shownPatch(result) };
}

function applyEdit({ text }: ToolContext, { path, edits }: FileEdits, data: Buffer, diffBytes: number) {
  return text.run('edit', { edits, data, path: relativePath(path), diffBytes });
}

/** In each round one of n concurrent edits succeeds. */
const maxRounds = 10;
/** UTF-8 bytes of the diff in a result. */
const maxDiff = 32 * 1024;

type Replaced = Extract<EditedText, { status: 'replaced' }>;
type Refused = Exclude<EditedText, Replaced>;

function report(
  { path }: FileEdits,
  { count, data, diff, diff_truncated }: Replaced,
  sha256: string,
): Record<string, unknown> {
  return {
    path: relativePath(path),
    replacements: count,
    bytes: data.length,
    sha256,
    diff,
    diff_truncated,
  };
}

function refusal({ path, edits }: FileEdits, result: Refused): Failure {
  const refused = refusalOf(path, result);
  if (edits.length === 1) return refused;
  const { error, value } = refused;
  const message = `Edit ${result.failed + 1} of ${edits.length}, after the edits before it: ${error.message} No edit was made.`;
  return { ...refused, error: { ...error, message }, value: { ...(value as object), edit: result.failed + 1 } };
}

function refusalOf(path: string, result: Refused): Failure {
  switch (result.status) {
    case 'multiple': {
      const { count, more, lines } = result;
      const times = more ? `more than ${count} times` : `${count} times`;
      return failure(
        'EMULTIPLE',
        `old_string occurs ${times} in ${path}, on the lines ${lines.join(', ')}${more ? ', …' : ''}.`,
        'Include more of the lines around the intended one, or set replace_all.',
        { count, lines, ...(more && { more }) },
      );
    }
    case 'too_large':
      return failure(
        'EFILETOOLARGE',
        `${path} would have ${result.bytes} bytes; edit writes at most ${maxTextFile} bytes.`,
        'Replace less, or write the file with a command.',
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
