import type { ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { checkPatch, patchFile, previewPatch } from '../../operations/patch-file.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { textArgument } from '../../text-work/text.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { settingsOf } from './settings.ts';

const input = z.strictObject({
  file: pathArgument.describe('File to change, relative to the workspace root'),
  patch: textArgument.min(1).describe('A unified diff of this file. The headers --- and +++ may be left out'),
  strategy: z
    .enum(['apply', 'check'])
    .default('apply')
    .describe('check: change nothing, and say whether the patch applies'),
});
type Args = z.output<typeof input>;

export const edit = builtInTool({
  name: 'Edit',
  description: `Applies a unified diff to a text file, whole or not at all. Returns {applied, diff}; diff is the change against the file as it is now. The context of each hunk has to be in the file exactly, white space and line endings included; line numbers may be off. The header --- /dev/null makes a file, and +++ /dev/null deletes it.
With the strategy check, and in a dry run, nothing changes: applied is false, and diff shows what would change. A patch that does not apply is an error.`,
  version: '1.0.0',
  effect: ({ strategy }) => (strategy === 'check' ? 'read' : 'workspace'),
  risk: 'medium',
  input,
  output: z.strictObject({
    applied: z.boolean(),
    diff: z.string().optional(),
    diffTruncated: z.literal(true).optional().describe('diff was too long, and its end is missing'),
  }),
  // Its result shows lines around the change.
  touches: ({ file, strategy, patch }) => ({
    paths: accesses(strategy, patch).flatMap((access) => touchedPaths(access, file).paths ?? []),
  }),
  execute: applyEdit,
  preview: (context, args) => previewPatch(context, patchOf(context, args)),
});

/** Any line in the form of a header of /dev/null counts as a deletion. */
const accesses = (strategy: Args['strategy'], patch: string) => [
  'read' as const,
  ...(strategy === 'apply' ? (['write'] as const) : []),
  ...(strategy === 'apply' && /^\+\+\+[ \t]+"?\/dev\/null/m.test(patch) ? (['delete'] as const) : []),
];

async function applyEdit(context: ToolContext, args: Args): Promise<ToolOutcome> {
  const input = patchOf(context, args);
  if (args.strategy === 'check' || context.dryRun) {
    const checked = await checkPatch(context, input);
    if (!checked.ok) return { ...checked.failure, value: { applied: false }, touched: [] };
    return { status: 'succeeded', value: { applied: false, ...shown(checked.file) }, touched: [] };
  }
  const outcome = await patchFile(context, input);
  if (outcome.status === 'deferred') return outcome;
  if (outcome.status !== 'succeeded') return { ...outcome, value: { applied: false } };
  return { ...outcome, value: { applied: true, ...shown(outcome.value as Parameters<typeof shown>[0]) } };
}

const patchOf = ({ settings }: ToolContext, { file: path, patch }: Args) => ({
  path,
  patch,
  maxBytes: settingsOf(settings).limits.maxFileBytes,
});

const shown = ({ diff, diff_truncated }: { diff: string; diff_truncated: boolean }) => ({
  diff,
  ...(diff_truncated && { diffTruncated: true }),
});
