import { type Conflict, type Resolution, resolutionSchema } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { EngineError, type PublishApproval } from '@holdpoint/engine';
import { z } from 'zod';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { pointerErrors } from '../../schema/validate.ts';
import { planOf } from './publish-plan.ts';

const argsSchema = z.strictObject({ resolutions: z.array(resolutionSchema) });

/**
 * Every file in conflict needs exactly one resolution, for the shown version of the source.
 * @throws ApiProblem `invalid_request`, and EngineError `action_changed` for a choice by lines of other versions
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
  for (const resolution of parsed.data.resolutions) refuseStale(resolution, conflicts);
}

/** A choice by lines is bound to the three versions. @throws EngineError `action_changed` */
function refuseStale(resolution: Resolution, conflicts: readonly Conflict[]): void {
  const { path } = resolution;
  const merge = conflicts.find((one) => one.path === path)?.merge;
  if (!('digest' in resolution) || resolution.digest === merge?.digest) return;
  throw new EngineError('action_changed', `the versions of ${path} have the digest ${merge?.digest} now`);
}

function errorsOf(
  resolution: Resolution,
  at: number,
  all: readonly Resolution[],
  conflicts: readonly Conflict[],
): PointerError[] {
  const { path, seen } = resolution;
  const conflict = conflicts.find((one) => one.path === path);
  const here = `/resolutions/${at}`;
  if (conflict === undefined) return [{ pointer: `${here}/path`, detail: `there is no conflict at ${path}` }];
  if (all.findIndex((one) => one.path === path) !== at) {
    return [{ pointer: `${here}/path`, detail: `${path} is resolved more than once` }];
  }
  const shown = conflict.versions?.source?.oid ?? null;
  if (seen !== shown) return [{ pointer: `${here}/seen`, detail: `the source's version that was shown is ${shown}` }];
  return 'digest' in resolution ? errorsOfLines(resolution, conflict, here) : [];
}

function errorsOfLines(
  { take, hunks = [] }: Extract<Resolution, { digest: string }>,
  { path, merge }: Conflict,
  here: string,
): PointerError[] {
  if (merge === undefined) {
    return [{ pointer: `${here}/take`, detail: `${path} cannot be merged by lines: take run, source or text` }];
  }
  const chosen = new Set<number>();
  const wrong = hunks.flatMap(({ hunk }, at) => {
    const isTwice = chosen.has(hunk);
    chosen.add(hunk);
    if (hunk <= merge.hunks && !isTwice) return [];
    const detail = isTwice ? `hunk ${hunk} is chosen more than once` : `${path} has ${merge.hunks} conflicting hunks`;
    return [{ pointer: `${here}/hunks/${at}/hunk`, detail }];
  });
  if (take !== 'hunks' || wrong.length > 0 || hunks.length === merge.hunks) return wrong;
  return [{ pointer: `${here}/hunks`, detail: `${path} has ${merge.hunks} conflicting hunks: choose for each` }];
}

function refusal(errors: readonly PointerError[]): ApiProblem {
  const placed = errors.map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  const [first] = placed;
  return new ApiProblem('invalid_request', `${first?.pointer}: ${first?.detail}`, { errors: placed });
}
