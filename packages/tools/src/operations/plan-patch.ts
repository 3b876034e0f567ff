import { FileError } from '@holdpoint/contract';
import type { AppliedHunks } from '../text-work/apply-hunks.ts';
import { type PatchSection, readPatch } from '../text-work/patch-envelope.ts';
import { maxTextFile } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { type Failure, failure } from './cut-short.ts';
import { nearestExisting } from './name-nearest.ts';
import { readTextFile } from './read-text.ts';
import { relativePath } from './touched.ts';
import type { FileChange } from './write-together.ts';

export type PlannedChange = FileChange;

/** The patch cannot be applied. Nothing has changed. */
export class PatchRefused extends Error {
  override readonly name = 'PatchRefused';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.error.message);
    this.failure = failure;
  }
}

/** The changes of a patch to the present files. Changes nothing. @throws PatchRefused; the errors of `files.read` */
export async function planPatch(context: ToolContext, input: string): Promise<PlannedChange[]> {
  const read = readPatch(input);
  if (!read.ok)
    throw refused('EPATCHINVALID', `Line ${read.line} of the patch: ${read.detail}.`, howWritten, { line: read.line });
  const { length } = read.sections;
  if (length > mostFiles)
    throw refused(
      'EPATCHINVALID',
      `The patch changes ${length} files; a call changes ${mostFiles} at most.`,
      'Split the patch.',
    );
  refuseRepeated(read.sections);
  const changes: PlannedChange[] = [];
  for (const section of read.sections) changes.push(await planSection(context, section));
  return changes;
}

const mostFiles = 200;

const howWritten =
  'Write *** Begin Patch, then for each file *** Add File: PATH with + lines, *** Update File: PATH with hunks of space, - and + lines below @@, or *** Delete File: PATH, then *** End Patch.';

const refused = (...given: Parameters<typeof failure>): PatchRefused => {
  const [code, message, next, value] = given;
  return new PatchRefused(failure(code, `${message} Nothing was changed.`, next, value));
};

/** Two sections of one file would each be planned on the present file. */
function refuseRepeated(sections: readonly PatchSection[]): void {
  const seen = new Set<string>();
  const paths = sections.flatMap((one) => (one.kind === 'update' && one.moveTo ? [one.path, one.moveTo] : [one.path]));
  for (const path of paths.map(relativePath)) {
    if (seen.has(path))
      throw refused('EPATCHINVALID', `The patch names ${path} twice.`, 'Put all hunks of a file in one section.', {
        path,
      });
    seen.add(path);
  }
}

async function planSection(context: ToolContext, section: PatchSection): Promise<PlannedChange> {
  const path = relativePath(section.path);
  switch (section.kind) {
    case 'add':
      await refuseExisting(context, path, `*** Update File: ${path} changes a file that exists.`);
      return { kind: 'add', path, data: newFile(section.lines) };
    case 'delete':
      return { kind: 'delete', path, ...(await readDeleted(context, path)) };
    case 'update':
      return planUpdate(context, path, section);
    default:
      return section satisfies never;
  }
}

const newFile = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''));

async function refuseExisting({ files, signal }: ToolContext, path: string, next: string): Promise<void> {
  const stat = await files.stat(path, { follow: false }, signal).catch((error: unknown) => {
    if (error instanceof FileError && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stat !== undefined) throw refused('EEXIST', `${path} exists already.`, next, { path });
}

async function readDeleted(context: ToolContext, path: string): Promise<{ before: Buffer; sha256: string }> {
  const { files, signal } = context;
  const stat = await present(context, path, () => files.stat(path, { follow: false }, signal));
  if (stat.type !== 'file')
    throw refused('EPATCHMISMATCH', `${path} is a ${stat.type}, not a file.`, 'Delete it with a command.', { path });
  const { data: before, sha256, bytes } = await files.read(path, { max_bytes: maxTextFile }, signal);
  if (sha256 === null)
    throw refused('EFILETOOLARGE', `${path} has ${bytes} bytes.`, 'Delete it with a command.', { path, bytes });
  return { before, sha256 };
}

async function planUpdate(
  context: ToolContext,
  path: string,
  { hunks, moveTo }: PatchSection & { kind: 'update' },
): Promise<PlannedChange> {
  const read = await present(context, path, () => readTextFile(context, path));
  if (!read.ok) throw new PatchRefused(read.failure);
  const { data: before, sha256 } = read.file;
  const target = moveTo === undefined ? undefined : relativePath(moveTo);
  if (target !== undefined) await refuseExisting(context, target, 'Choose another path, or delete that file first.');
  const result = await context.text.run('hunks', { data: before, hunks });
  if (result.status !== 'applied') throw hunkRefused(path, result, hunks.length);
  // A thread returns plain bytes.
  const data = Buffer.from(result.data.buffer, result.data.byteOffset, result.data.byteLength);
  return { kind: 'update', path, data, before, sha256, moveTo: target };
}

function hunkRefused(path: string, result: Exclude<AppliedHunks, { status: 'applied' }>, hunks: number): PatchRefused {
  if (result.status === 'too_large') {
    const message = `${path} would have ${result.bytes} bytes; a patch writes at most ${maxTextFile} bytes.`;
    return refused('EFILETOOLARGE', message, 'Write less, or write the file with a command.', {
      path,
      bytes: result.bytes,
    });
  }
  const { hunk, detail, nearest } = result;
  const seen = nearest ? ` The nearest is line ${nearest.line}: ${JSON.stringify(nearest.text)}.` : '';
  const next =
    nearest?.differs_in === 'whitespace'
      ? 'Only whitespace differs: repeat the patch with the whitespace of the file.'
      : 'Read the file again, and copy the lines that stay and go from its content, in their order.';
  return refused('EPATCHMISMATCH', `Hunk ${hunk} of ${hunks} of ${path} does not apply: ${detail}.${seen}`, next, {
    path,
    hunk,
    nearest,
  });
}

/** @throws PatchRefused with the nearest paths for a missing file */
async function present<Result>(context: ToolContext, path: string, look: () => Promise<Result>): Promise<Result> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== 'ENOENT') throw error;
    const nearest = await nearestExisting(context, path).catch(() => []);
    const near = nearest.length === 0 ? '' : `Nearest: ${nearest.join(', ')}. `;
    throw refused('ENOENT', `${error.message}.`, `${near}${error.next} A new file needs *** Add File: ${path}.`, {
      path,
      nearest,
    });
  }
}
