import type { Preview, PublishPlan, ResultPreview } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';

export type Shown = Preview | ResultPreview;
const kinds: readonly string[] = ['diff', 'command', 'merge', 'question', 'plan', 'problem', 'result'];

/** A preview of a kind that this page knows; any other is shown as JSON. */
export function shownOf(preview: Approval['preview']): Shown | undefined {
  if (typeof preview !== 'object' || preview === null || Array.isArray(preview)) return undefined;
  // A preview that is too long as a whole comes as text.
  return kinds.includes(String(preview.kind)) ? (preview as unknown as Shown) : undefined;
}

export const isPlan = (preview: unknown): preview is PublishPlan =>
  typeof preview === 'object' && preview !== null && 'target' in preview && 'candidate' in preview;
