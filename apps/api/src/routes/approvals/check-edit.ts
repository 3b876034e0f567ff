import { type Conflict, type Json, type Resolution, resolutionSchema } from '@holdpoint/contract';
import type { Decide, PointerError } from '@holdpoint/contract/wire';
import type { PublishApproval, StepApproval } from '@holdpoint/engine';
import { z } from 'zod';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { pointerErrors } from '../../schema/validate.ts';
import { planOf } from './approval-view.ts';

type Deps = Pick<ApiDeps, 'engine'>;

/** The engine refuses wrong arguments too; this check also names the place of each in the body. @throws ApiProblem `invalid_request` */
export async function checkEdit(deps: Deps, id: string, { decision, action_digest, args }: Decide): Promise<void> {
  if (decision !== 'edit' || args === undefined) return;
  const view = await deps.engine.approvals.get(id);
  const { approval, digest } = view;
  // The engine's own refusals come first: decided already, changed, or no edit allowed.
  if (approval.status !== 'pending' || digest !== action_digest) return;
  if (!approval.request.allowed_decisions.includes('edit')) return;
  if (view.subject === 'step') await checkArguments(deps, view, args);
  else await checkResolutions(deps, view, args);
}

async function checkArguments(deps: Deps, view: StepApproval, args: Json): Promise<void> {
  const described = await deps.engine.approvals.describeEdit(view, args);
  if (described.ok) return;
  const errors = (described.issues ?? []).map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  throw new ApiProblem('invalid_request', described.error.message, { errors });
}

const argsSchema = z.strictObject({ resolutions: z.array(resolutionSchema) });

/**
 * Every file in conflict is to be resolved exactly once, against the source's version that was shown.
 * @throws ApiProblem `invalid_request`
 */
async function checkResolutions(
  deps: Pick<ApiDeps, 'engine'>,
  { approval }: PublishApproval,
  args: unknown,
): Promise<void> {
  const parsed = argsSchema.safeParse(args);
  if (!parsed.success) throw refusal(pointerErrors(parsed.error.issues, true));
  const { conflicts = [] } = (await planOf(deps, approval)) ?? {};
  const errors = [
    ...parsed.data.resolutions.flatMap((resolution, at) =>
      errorsOf(resolution, at, parsed.data.resolutions, conflicts),
    ),
    ...conflicts
      .filter(({ path }) => !parsed.data.resolutions.some((resolution) => resolution.path === path))
      .map(({ path }) => ({ pointer: '/resolutions', detail: `${path} is not resolved` })),
  ];
  if (errors.length > 0) throw refusal(errors);
}

function errorsOf(
  { path, seen }: Resolution,
  at: number,
  all: readonly Resolution[],
  conflicts: readonly Conflict[],
): PointerError[] {
  const conflict = conflicts.find((one) => one.path === path);
  const here = `/resolutions/${at}`;
  if (conflict === undefined) return [{ pointer: `${here}/path`, detail: `there is no conflict at ${path}` }];
  if (all.findIndex((one) => one.path === path) !== at) {
    return [{ pointer: `${here}/path`, detail: `${path} is resolved more than once` }];
  }
  const shown = conflict.versions?.source?.oid ?? null;
  if (seen === shown) return [];
  return [{ pointer: `${here}/seen`, detail: `the source's version that was shown is ${shown}` }];
}

function refusal(errors: readonly PointerError[]): ApiProblem {
  const placed = errors.map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  const [first] = placed;
  return new ApiProblem('invalid_request', `${first?.pointer}: ${first?.detail}`, { errors: placed });
}
