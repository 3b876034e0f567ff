import type { RunSpec } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { checkRules } from '@holdpoint/policy';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/**
 * Every rule must be able to match a call: a rule without any possible call holds and denies nothing, contrary to its text.
 * @throws ApiProblem `invalid_policy`
 */
export function checkPolicy(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  toolset: string,
  { policy, policy_pin }: Pick<RunSpec, 'policy' | 'policy_pin'>,
): void {
  // A named policy may have rules for several toolsets.
  const toolsets = policy_pin === undefined ? [toolset] : catalog.toolsets();
  const tools = toolsets.flatMap((name) => catalog.list(name).map((tool) => ({ ...tool, toolset: name })));
  const errors = checkRules(policy.rules, tools).map(
    ({ pointer, detail }): PointerError => ({ pointer: `/policy${pointer}`, detail }),
  );
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('invalid_policy', `${first.pointer}: ${first.detail}`, { errors });
}
