import { type Policy, toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { idleRules } from '@holdpoint/tools';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/**
 * Every rule that names a tool must be able to match a call of it: one that never does holds and denies nothing, although it says so.
 * @throws ApiProblem `invalid_policy`
 */
export function checkPolicy({ catalog }: Pick<ApiDeps, 'catalog'>, toolset: string, { rules }: Policy): void {
  const errors = idleRules(rules, catalog.list(toolset)).map(
    ({ index, field, detail }): PointerError => ({
      pointer: toPointer(['policy', 'rules', index, 'match', field]),
      detail,
    }),
  );
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('invalid_policy', `${first.pointer}: ${first.detail}`, { errors });
}
