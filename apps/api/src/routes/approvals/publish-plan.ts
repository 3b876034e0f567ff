import type { PublishPlan } from '@holdpoint/contract';
import type { ApprovalState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

/** The plan of the publish behind this approval; undefined when the approval concerns a call. */
export async function planOf(
  { engine }: Pick<ApiDeps, 'engine'>,
  { request }: ApprovalState,
): Promise<PublishPlan | undefined> {
  if (request.preview === undefined) return undefined;
  const shown = await engine.read(request.preview);
  return 'kind' in shown ? undefined : shown;
}
