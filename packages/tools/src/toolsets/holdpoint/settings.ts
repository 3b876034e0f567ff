import { z } from 'zod';
import type { OfferedRun } from '../../toolset.ts';

const editingTools = ['edit', 'multi_edit', 'apply_patch'];

export const holdpointSettings = z.strictObject({
  editing: z
    .enum(['auto', 'edit', 'apply_patch', 'all'])
    .default('auto')
    .describe(
      'The editing tools offered to a model. auto: apply_patch to GPT models, edit and multi_edit to all others',
    ),
});

/** OpenAI trains these models on the format of `apply_patch`. */
const gpt = /^(?:gpt|chatgpt|codex|o\d)(?:[-.\d]|$)/i;

const isGpt = (model: string): boolean => gpt.test(model.slice(model.lastIndexOf('/') + 1));

/** The tools that a model is not offered. Every tool can still be called. */
export const withheldTools = ({ plans, remembers, ...run }: OfferedRun): string[] => [
  ...withheldEditing(run),
  ...(plans ? [] : ['submit_plan']),
  ...(remembers ? [] : ['remember']),
];

function withheldEditing({ settings, model }: { settings: unknown; model: string }): readonly string[] {
  const { editing } = holdpointSettings.parse(settings ?? {});
  const chosen = editing === 'auto' ? (isGpt(model) ? 'apply_patch' : 'edit') : editing;
  switch (chosen) {
    case 'all':
      return [];
    case 'edit':
      return ['apply_patch'];
    case 'apply_patch':
      return editingTools.filter((name) => name !== 'apply_patch');
    default:
      return chosen satisfies never;
  }
}
