import { FileError, type Preview, type ToolOutcome } from '@holdpoint/contract';
import type { PatchedText } from '../text-work/apply-patch.ts';
import { maxPatch, shownPatch } from '../text-work/patch.ts';
import { decodeText } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { type Failure, failure } from './cut-short.ts';
import { changedPaths, relativePath } from './touched.ts';

export interface FilePatch {
  path: string;
  /** A unified diff of this file. Headers may be left out. */
  patch: string;
  /** Bytes of the largest file, before and after. Up to 32 MiB. */
  maxBytes: number;
}

/** The changes of a patch, as a diff of the present file. */
export interface PatchedFile {
  data: Buffer;
  /** Digest of the content before the patch; null: there was no file. */
  sha256: string | null;
  deletes: boolean;
  diff: string;
  diff_truncated: boolean;
}

/** Applies a unified diff to a file of the workspace, whole or not at all. @returns a value `{diff, diff_truncated}` */
export async function patchFile(context: ToolContext, input: FilePatch): Promise<ToolOutcome> {
  for (let round = 1; ; round++) {
    const patched = await checkPatch(context, input);
    if (!patched.ok) return { ...patched.failure, touched: [] };
    const { data, sha256, deletes, diff, diff_truncated } = patched.file;
    try {
      const expect = sha256 === null ? { exists: false as const } : { sha256 };
      // Before a deletion, too: the write fails when another call wrote in between.
      const written = await context.files.write(input.path, data, { expect }, context.signal);
      if (deletes) await context.files.remove(input.path, {}, context.signal);
      const touched = deletes ? {} : changedPaths(input.path, written);
      return { status: 'succeeded', value: { diff, diff_truncated }, ...touched };
    } catch (error) {
      // Another call wrote in between. Its change is kept: the patch is applied to the new content.
      const isRace = error instanceof FileError && ['ECHANGED', 'EEXIST'].includes(error.code);
      if (!isRace || round === maxRounds) throw error;
    }
  }
}

/** The file after the patch. Changes nothing. Throws the errors of `files.read`. */
export async function checkPatch(
  context: ToolContext,
  { path, patch, maxBytes, diffBytes = maxDiff }: FilePatch & { diffBytes?: number },
): Promise<{ ok: true; file: PatchedFile } | { ok: false; failure: Failure }> {
  const { files, signal, text } = context;
  const read = await files.read(path, { max_bytes: maxBytes }, signal).catch((error: unknown) => {
    if (error instanceof FileError && error.code === 'ENOENT') return error;
    throw error;
  });
  const missing = read instanceof FileError;
  const { data: before, sha256 } = missing ? { data: Buffer.alloc(0), sha256: null } : read;
  if (!missing && sha256 === null) return { ok: false, failure: tooLarge(`${path} has`, read.bytes, maxBytes) };
  const shown = relativePath(path);
  const result = await text.run('patch', { data: before, patch, path: shown, missing });
  // The patch makes no file.
  if (missing && result.status === 'missing') throw read;
  if (result.status !== 'patched') return { ok: false, failure: refusal(path, result) };
  const { deletes } = result;
  if (deletes && (await files.stat(path, { follow: false }, signal)).type !== 'file') {
    return { ok: false, failure: failure('EPATCHMISMATCH', `${path} is a link.`, 'Delete the file that it leads to.') };
  }
  // A thread returns plain bytes.
  const data = Buffer.from(result.data.buffer, result.data.byteOffset, result.data.byteLength);
  if (data.length > maxBytes) return { ok: false, failure: tooLarge(`${path} would have`, data.length, maxBytes) };
  const after = decodeText(data);
  const change = {
    ...{ path: shown, before: missing ? null : before, diffBytes },
    after: deletes ? null : `${after.bom ? '\uFEFF' : ''}${after.text}`,
  };
  return { ok: true, file: { data, sha256, deletes, ...(await text.run('diff', change)) } };
}

export async function previewPatch(context: ToolContext, input: FilePatch): Promise<Preview> {
  const patched = await checkPatch(context, { ...input, diffBytes: maxPatch });
  if (!patched.ok) return { kind: 'problem', message: patched.failure.error.message };
  return { kind: 'diff', path: relativePath(input.path), patch: shownPatch(patched.file) };
}

/** In each round one of n concurrent patches succeeds. */
const maxRounds = 10;
/** UTF-8 bytes of the diff in a result. */
export const maxDiff = 32 * 1024;

const tooLarge = (what: string, bytes: number, most: number): Failure =>
  failure(
    'EFILETOOLARGE',
    `${what} ${bytes} bytes; files of more than ${most} bytes are not patched.`,
    'Patch it with a command.',
  );

function refusal(path: string, result: Exclude<PatchedText, { status: 'patched' }>): Failure {
  switch (result.status) {
    case 'unreadable':
      return failure(
        'EPATCHINVALID',
        `The patch is no unified diff that can be applied. ${result.detail.replace(/\.$/, '')}.`,
        'Write hunks with a header such as @@ -1,3 +1,4 @@ whose numbers count the lines below it.',
      );
    case 'other_file':
      return failure(
        'EPATCHFILE',
        `The headers of the patch name ${result.named}, and the call names ${path}.`,
        'Name the same file in both, or leave the headers out.',
      );
    case 'mismatch':
      if (result.line_endings !== undefined) return otherEndings(path, result.hunk, result.line_endings);
      return failure(
        'EPATCHMISMATCH',
        `Hunk ${result.hunk} (${result.header}) does not apply: ${path} has its lines nowhere, or not in this order.`,
        'Read the file again and copy the context from its content, white space and line endings included.',
        { hunk: result.hunk },
      );
    case 'exists':
      return failure(
        'EPATCHMISMATCH',
        `The patch makes ${path}, which is there and not empty.`,
        'Name the file in both headers, with the lines that it has.',
      );
    case 'remains':
      return failure(
        'EPATCHMISMATCH',
        `The patch deletes ${path}, which has other lines, too.`,
        'Read the file again, and remove all of its lines; or name it in both headers.',
      );
    case 'missing':
      return failure('ENOENT', `There is no ${path}.`, 'Make it with a patch from /dev/null.');
    default:
      return result satisfies never;
  }
}

function otherEndings(path: string, hunk: number, { file, patch }: { file: string; patch: string }): Failure {
  const next =
    file === 'CRLF'
      ? 'End every line of the hunks (context, "-" and "+") with CRLF (\\r\\n), as the file does.'
      : file === 'LF'
        ? 'End every line of the hunks with LF (\\n) alone, as the file does.'
        : 'Give each line of the hunks the line ending that it has in the file: read the file again.';
  const message = `Hunk ${hunk} does not apply for its line endings alone: ${path} has ${file} there, and the patch has ${patch}.`;
  return failure('EPATCHMISMATCH', message, next, { hunk, differs_in: 'line_endings' });
}
