import type { PublishPlan } from '@holdpoint/contract';
import type { ApprovalState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

/** What the publish that waits for this approval would do; undefined when the approval is not about a publish. */
export async function planOf(
  { engine }: Pick<ApiDeps, 'engine'>,
  { request }: ApprovalState,
): Promise<PublishPlan | undefined> {
  if (request.preview === undefined) return undefined;
  const shown = await engine.read(request.preview);
  return 'kind' in shown ? undefined : shown;
}
