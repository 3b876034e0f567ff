import type { Decide } from '@holdpoint/contract/wire';
import type { StepApproval } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { checkResolutions } from './check-resolutions.ts';

/** The engine refuses wrong arguments too; here each of them is named by its place in the body. @throws ApiProblem `invalid_request` */
export async function checkEdit(deps: ApiDeps, id: string, { decision, action_digest, args }: Decide): Promise<void> {
  if (decision !== 'edit' || args === undefined) return;
  const view = await deps.engine.approvals.get(id);
  const { approval, digest } = view;
  // What is decided, has changed or takes no edit is told first.
  if (approval.status !== 'pending' || digest !== action_digest) return;
  if (!approval.request.allowed_decisions.includes('edit')) return;
  if (view.subject === 'step') checkArguments(deps, view, args);
  else await checkResolutions(deps, view, args);
}

function checkArguments({ catalog }: Pick<ApiDeps, 'catalog'>, { run, step }: StepApproval, args: unknown): void {
  const described = catalog.describe({ toolset: run.header.toolset, tool: step.call.tool, args });
  if (described.ok) return;
  const errors = described.issues.map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  throw new ApiProblem('invalid_request', described.error.message, { errors });
}
