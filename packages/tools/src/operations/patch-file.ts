import { FileError, type Preview, type ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import type { PatchedText } from './apply-patch.ts';
import { changedPaths } from './changed-paths.ts';
import { type Failure, failure } from './failure.ts';
import { maxPatch, shownPatch } from './patch.ts';
import { relativePath } from './path-argument.ts';
import { decodeText } from './text.ts';

export interface FilePatch {
  path: string;
  /** A unified diff of this one file. Headers may be left out. */
  patch: string;
  /** Bytes of the largest file, before and after. Up to 32 MiB. */
  maxBytes: number;
}

/** What a patch changes, as a diff of the file as it is now. */
export interface PatchedFile {
  data: Buffer;
  /** Digest of the content that the patch was applied to. */
  sha256: string;
  diff: string;
  diff_truncated: boolean;
}

/** Applies a unified diff to a file of the workspace, whole or not at all. @returns a value `{diff, diff_truncated}` */
export async function patchFile(context: ToolContext, input: FilePatch): Promise<ToolOutcome> {
  for (let round = 1; ; round++) {
    const patched = await checkPatch(context, input);
    if (!patched.ok) return { ...patched.failure, touched: [] };
    const { data, sha256, diff, diff_truncated } = patched.file;
    try {
      await context.files.write(input.path, data, { expect: { sha256 } }, context.signal);
      return { status: 'succeeded', value: { diff, diff_truncated }, ...(await changedPaths(context, input.path)) };
    } catch (error) {
      // Another call wrote in between. Its change is kept: the patch is applied to the new content.
      if (!(error instanceof FileError && error.code === 'ECHANGED') || round === maxRounds) throw error;
    }
  }
}

/** What the patch would make of the file. Changes nothing. Throws what `files.read` throws. */
export async function checkPatch(
  context: ToolContext,
  { path, patch, maxBytes, diffBytes = maxDiff }: FilePatch & { diffBytes?: number },
): Promise<{ ok: true; file: PatchedFile } | { ok: false; failure: Failure }> {
  const { data: before, bytes, sha256 } = await context.files.read(path, { max_bytes: maxBytes }, context.signal);
  if (sha256 === null) return { ok: false, failure: tooLarge(`${path} has`, bytes, maxBytes) };
  const shown = relativePath(path);
  const result = await context.text.run('patch', { data: before, patch, path: shown });
  if (result.status !== 'patched') return { ok: false, failure: refusal(path, result) };
  // A thread returns plain bytes.
  const data = Buffer.from(result.data.buffer, result.data.byteOffset, result.data.byteLength);
  if (data.length > maxBytes) return { ok: false, failure: tooLarge(`${path} would have`, data.length, maxBytes) };
  const { text, bom } = decodeText(data);
  const change = { path: shown, before, after: `${bom ? '\uFEFF' : ''}${text}`, diffBytes };
  return { ok: true, file: { data, sha256, ...(await context.text.run('diff', change)) } };
}

export async function previewPatch(context: ToolContext, input: FilePatch): Promise<Preview> {
  const patched = await checkPatch(context, { ...input, diffBytes: maxPatch });
  if (!patched.ok) return { kind: 'problem', message: patched.failure.error.message };
  return { kind: 'diff', path: relativePath(input.path), patch: shownPatch(patched.file) };
}

/** One of n concurrent patches succeeds in each round. */
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
      return failure(
        'EPATCHMISMATCH',
        `Hunk ${result.hunk} (${result.header}) does not apply: ${path} has its lines nowhere, or not in this order.`,
        'Read the file again and copy the context from its content, white space and line endings included.',
        { hunk: result.hunk },
      );
    default:
      return result satisfies never;
  }
}
