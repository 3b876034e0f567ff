import { FileError, type Preview, type ToolOutcome } from '@holdpoint/contract';
import { cutDiff, maxPatch, shownPatch } from '../text-work/patch.ts';
import { type PatchSection, readPatch } from '../text-work/patch-envelope.ts';
import { decodeText } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
import { PatchRefused, type PlannedChange, planPatch } from './plan-patch.ts';
import { relativePath } from './touched.ts';
import { HalfWritten, writeTogether } from './write-together.ts';

/** Plans the changes of a call on the present files. Changes nothing. @throws PatchRefused; the errors of `files.read` */
type PlanChanges = () => Promise<PlannedChange[]>;

/** Changes files of the workspace, all of them or none. @returns a value `{files, diff, diff_truncated}` */
export async function makeChanges(context: ToolContext, plan: PlanChanges): Promise<ToolOutcome> {
  for (let round = 1; ; round++) {
    try {
      const changes = await plan();
      const value = await report(context, changes, maxDiff);
      const isDirect = await writeTogether(context, changes);
      for (const change of changes) {
        if (change.kind === 'add')
          context.onWritten?.({ path: change.path, before: Buffer.alloc(0), after: change.data });
        if (change.kind === 'update') {
          const { path, moveTo = path, before, data: after } = change;
          context.onWritten?.({ path: moveTo, before, after });
        }
      }
      return { status: 'succeeded', value, ...(isDirect && { touched: pathsOf(changes) }) };
    } catch (error) {
      if (error instanceof PatchRefused) return { ...error.failure, touched: [] };
      if (error instanceof HalfWritten) return halfWritten(error);
      // Another call wrote in between. Its change is kept: the patch is applied to the new content.
      const isRace = error instanceof FileError && error.code === 'ECHANGED';
      if (!isRace || round === maxRounds) throw error;
    }
  }
}

export async function previewChanges(context: ToolContext, plan: PlanChanges): Promise<Preview> {
  try {
    const changes = await plan();
    const { diff, diff_truncated } = await report(context, changes, maxPatch);
    return { kind: 'diff', path: pathsOf(changes).join(', '), patch: shownPatch({ diff, diff_truncated }) };
  } catch (error) {
    if (error instanceof PatchRefused) return { kind: 'problem', message: error.failure.error.message };
    throw error;
  }
}

const maxRounds = 5;
/** UTF-8 bytes of the diff in a result. */
const maxDiff = 32 * 1024;

const pathsOf = (changes: readonly PlannedChange[]): string[] =>
  changes.flatMap((change) =>
    change.kind === 'update' && change.moveTo ? [change.path, change.moveTo] : [change.path],
  );

async function report(context: ToolContext, changes: readonly PlannedChange[], diffBytes: number) {
  const diffs: string[] = [];
  let left = diffBytes;
  let isCut = false;
  for (const change of changes) {
    const { diff, diff_truncated } = await diffOf(context, change, diffBytes);
    const shown = cutDiff(diff, left);
    diffs.push(shown.diff);
    left -= Buffer.byteLength(shown.diff);
    isCut ||= diff_truncated || shown.diff_truncated;
  }
  return { files: changes.map(shownChange), diff: diffs.join(''), diff_truncated: isCut };
}

function diffOf({ text }: ToolContext, change: PlannedChange, diffBytes: number) {
  const before = change.kind === 'add' ? null : change.before;
  const after = change.kind === 'delete' ? null : decodeText(change.data);
  const path = change.kind === 'update' ? (change.moveTo ?? change.path) : change.path;
  return text.run('diff', { path, before, after: after && `${after.bom ? '\uFEFF' : ''}${after.text}`, diffBytes });
}

function shownChange(change: PlannedChange): { path: string; change: string; from?: string } {
  const { kind, path } = change;
  if (kind === 'update' && change.moveTo) return { path: change.moveTo, change: 'moved', from: path };
  return { path, change: { add: 'added', delete: 'deleted', update: 'changed' }[kind] };
}

const halfWritten = ({ paths, cause }: HalfWritten): ToolOutcome =>
  failure(
    'EPATCHPARTIAL',
    `The change failed (${cause instanceof Error ? cause.message : String(cause)}), and could not all be taken back, because another call wrote to the same files: ${paths.join(', ')} stay changed.`,
    'Read these files, and decide for each.',
    { changed: paths.map(relativePath) },
  );

/** Applies a patch in OpenAI's format to files of the workspace, all of it or nothing. */
export const applyPatchText = (context: ToolContext, { input }: { input: string }): Promise<ToolOutcome> =>
  makeChanges(context, () => planPatch(context, input));

export const previewPatchText = (context: ToolContext, { input }: { input: string }): Promise<Preview> =>
  previewChanges(context, () => planPatch(context, input));

/** The paths of a patch by their access, from its text alone; none for a text that is no patch. */
export function patchPaths(input: string): { write: string[]; delete: string[] } {
  const read = readPatch(input);
  const sections: readonly PatchSection[] = read.ok ? read.sections : [];
  return {
    write: sections.flatMap((one) =>
      one.kind === 'delete'
        ? []
        : one.kind === 'update' && one.moveTo !== undefined
          ? [one.path, one.moveTo]
          : [one.path],
    ),
    delete: sections.flatMap((one) => (one.kind === 'delete' ? [one.path] : [])),
  };
}
