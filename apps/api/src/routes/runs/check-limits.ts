import { type GivenLimits, toPointer } from '@holdpoint/contract';
import { aboveCeilings } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/** The limits of a run, at `/limits` of the request. @throws ApiProblem `limit_above_ceiling` */
export function checkLimits({ ceilings = {} }: Pick<ApiDeps, 'ceilings'>, given: GivenLimits): void {
  const errors = aboveCeilings(given, ceilings).map(({ path, value, ceiling, setting }) => ({
    pointer: toPointer(['limits', ...path]),
    detail: `${path.join('.')} is ${value}; the operator allows ${ceiling} at most (${setting})`,
  }));
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('limit_above_ceiling', first.detail, { errors });
}
