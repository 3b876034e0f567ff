import type { Json } from '@holdpoint/contract';
import type { Decide } from '@holdpoint/contract/wire';
import type { StepApproval } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { checkResolutions } from './check-resolutions.ts';

type Deps = Pick<ApiDeps, 'engine'>;

/** The engine refuses wrong arguments too; this check also names the place of each in the body. @throws ApiProblem `invalid_request` */
export async function checkEdit(
  deps: Deps,
  id: string,
  { decision, action_digest, args, on_invalid }: Decide,
): Promise<void> {
  if (decision !== 'edit' || args === undefined) return;
  const view = await deps.engine.approvals.get(id);
  const { approval, digest } = view;
  // The engine's own refusals come first: decided already, changed, or no edit allowed.
  if (approval.status !== 'pending' || digest !== action_digest) return;
  if (!approval.request.allowed_decisions.includes('edit')) return;
  if (view.subject === 'step') {
    if (on_invalid !== 'reject') await checkArguments(deps, view, args);
  } else await checkResolutions(deps, view, args);
}

async function checkArguments(deps: Deps, view: StepApproval, args: Json): Promise<void> {
  const described = await deps.engine.approvals.describeEdit(view, args);
  if (described.ok) return;
  const errors = (described.issues ?? []).map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  throw new ApiProblem('invalid_request', described.error.message, { errors });
}
