import { createHash } from 'node:crypto';
import { canonicalJson, type Json, type Payload } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';
import type { DecisionRequest } from './decision-request.ts';
import type { StepApproval } from './view-approval.ts';

/** The full content of an approval, and its digest. A decision names the digest to prove that the caller read the content. */
export interface ApprovalContent {
  args: Json;
  preview: Json;
  content_digest: string;
}

/** The parts that are too long for the approval, with their length in characters of JSON text. */
export type CutParts = Partial<Record<'args' | 'preview', number>>;

/** Parts above `inlineLimit` are not stored in the log. */
export const cutParts = ({ step, approval }: StepApproval): CutParts => {
  const { preview } = approval.request;
  return {
    args: lengthIfLarge(approval.decision?.asked ?? step.args),
    preview: preview && lengthIfLarge(preview),
  };
};

export async function readContent(deps: Pick<EngineDeps, 'blobs'>, view: StepApproval): Promise<ApprovalContent> {
  const { preview: stored } = view.approval.request;
  const preview = stored === undefined ? null : ((await fromPayload(deps.blobs, stored)) as Json);
  const { args } = view;
  const text = canonicalJson([args, preview]);
  return { args, preview, content_digest: `sha256:${createHash('sha256').update(text).digest('hex')}` };
}

/** Only a caller who has read the full content can approve a long call. @throws EngineError `not_opened` */
export async function assertOpened(
  deps: Pick<EngineDeps, 'blobs'>,
  view: StepApproval,
  { decision, content_digest }: Pick<DecisionRequest, 'decision' | 'content_digest'>,
): Promise<void> {
  const cut = Object.entries(cutParts(view)).filter(([, length]) => length !== undefined);
  if (decision !== 'approve' || (cut.length === 0 && content_digest === undefined)) return;
  const content = await readContent(deps, view);
  if (content.content_digest === content_digest) return;
  const parts = cut.map(([part, length]) => `${part === 'args' ? 'arguments' : part} (${length} bytes)`);
  const what = cut.length === 0 ? 'its content' : `its ${parts.join(' and ')}`;
  const message =
    content_digest === undefined
      ? `the approval ${view.approval.id} shows only the beginning of ${what}`
      : `the content_digest is not that of ${what}`;
  throw new EngineError('not_opened', message);
}

const lengthIfLarge = (payload: Payload<unknown>): number | undefined =>
  'sha256' in payload ? payload.bytes : undefined;
