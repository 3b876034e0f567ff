import type { Policy } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { checkRules } from '@holdpoint/policy';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/**
 * Every rule must be able to match a call: one that never does holds and denies nothing, although it says so.
 * @throws ApiProblem `invalid_policy`
 */
export function checkPolicy({ catalog }: Pick<ApiDeps, 'catalog'>, toolset: string, { rules }: Policy): void {
  const tools = catalog.list(toolset).map((tool) => ({ ...tool, toolset }));
  const errors = checkRules(rules, tools).map(
    ({ pointer, detail }): PointerError => ({ pointer: `/policy${pointer}`, detail }),
  );
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('invalid_policy', `${first.pointer}: ${first.detail}`, { errors });
}
