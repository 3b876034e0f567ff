import { allScopes, nearestNames, type Scope, scopeSchema } from '@holdpoint/contract';
import { ApiProblem } from '../../errors/api-problem.ts';

/** @throws ApiProblem `unknown_scope`, with the nearest names */
export function checkScopes(asked: readonly string[]): Scope[] {
  const errors = asked.flatMap((scope, index) => {
    if (scopeSchema.safeParse(scope).success) return [];
    const nearest = nearestNames(scope, allScopes).join(', ');
    return [{ pointer: `/scopes/${index}`, detail: `there is no scope ${JSON.stringify(scope)}. Nearest: ${nearest}` }];
  });
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('unknown_scope', first.detail, { errors });
  return asked as Scope[];
}
