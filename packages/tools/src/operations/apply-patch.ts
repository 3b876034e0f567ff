import type { Preview, ToolOutcome } from '@holdpoint/contract';
import { type PatchSection, readPatch } from '../text-work/patch-envelope.ts';
import type { ToolContext } from '../tool.ts';
import { makeChanges, previewChanges } from './make-changes.ts';
import { planPatch } from './plan-patch.ts';

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
