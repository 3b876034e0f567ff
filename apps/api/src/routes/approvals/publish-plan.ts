import { type PublishPlan, publishPlanSchema } from '@holdpoint/contract';
import { fromPayload } from '@holdpoint/engine/blobs/blob-store';
import type { ApprovalState } from '@holdpoint/engine/domain/state';
import type { ApiDeps } from '../../deps.ts';

/** What the publish that waits for this approval would do; undefined when it is not about a publish. */
export async function planOf(
  { blobs }: Pick<ApiDeps, 'blobs'>,
  { request }: ApprovalState,
): Promise<PublishPlan | undefined> {
  if (request.preview === undefined) return undefined;
  return publishPlanSchema.safeParse(await fromPayload(blobs, request.preview)).data;
}
