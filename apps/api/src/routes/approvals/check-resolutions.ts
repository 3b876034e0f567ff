import { type Conflict, type Resolution, resolutionSchema } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import type { PublishApproval } from '@holdpoint/engine';
import { z } from 'zod';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { pointerErrors } from '../../schema/validate.ts';
import { planOf } from './publish-plan.ts';

const argsSchema = z.strictObject({ resolutions: z.array(resolutionSchema) });

/**
 * Every file in conflict is to be resolved exactly once, against the source's version that was shown.
 * @throws ApiProblem `invalid_request`
 */
export async function checkResolutions(
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
