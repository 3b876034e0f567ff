import { type GivenLimits, type RunSpec, type Settings, toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { aboveCeilings } from '@holdpoint/engine';
import { type AskedGrants, checkRules, grantProblems, type WrittenGrants, widened } from '@holdpoint/policy';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

/**
 * The settings of a toolset with its defaults. They stand at `settings` of the request, or of its part `at`.
 * @throws ApiProblem `invalid_settings`
 */
export function checkSettings(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  { toolset, settings }: { toolset: string; settings: Settings },
  at = '',
): Settings {
  const checked = catalog.checkSettings(toolset, settings);
  if (checked.ok) return checked.settings;
  const errors = checked.errors.map(({ pointer, detail }) => ({ pointer: `${at}/settings${pointer}`, detail }));
  const [first] = errors;
  throw new ApiProblem('invalid_settings', `${first?.pointer}: ${first?.detail}`, { errors });
}

/** The limits of a run, at `/limits` of the request. @throws ApiProblem `limit_above_ceiling` */
export function checkLimits({ ceilings = {} }: Pick<ApiDeps, 'ceilings'>, given: GivenLimits): void {
  const errors = aboveCeilings(given, ceilings).map(({ path, value, ceiling, setting }) => ({
    pointer: toPointer(['limits', ...path]),
    detail: `${path.join('.')} is ${value}; the operator allows ${ceiling} at most (${setting})`,
  }));
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('limit_above_ceiling', first.detail, { errors });
}

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

/**
 * Permissions and protected paths must parse, and the permissions of a fork may not go beyond the original run.
 * @throws ApiProblem `invalid_permissions`, `permissions_widened`
 */
export function checkGrants(asked: AskedGrants, parent?: WrittenGrants): void {
  refuse('invalid_permissions', grantProblems(asked));
  if (parent !== undefined) refuse('permissions_widened', widened(parent, asked));
}

/** Plan mode ends with the approval of a plan, so the toolset needs a tool that submits one. @throws ApiProblem `invalid_permissions` */
export function checkPlanMode(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  toolset: string,
  modes: AskedGrants['modes'],
): void {
  if (!modes?.plan || catalog.list(toolset).some(({ gate }) => gate === 'plan')) return;
  const detail = `the toolset ${toolset} has no tool that submits a plan: use the toolset holdpoint, or submit the run with modes.read_only`;
  refuse('invalid_permissions', [{ pointer: '/modes/plan', detail }]);
}

function refuse(
  code: 'invalid_permissions' | 'permissions_widened',
  errors: readonly { pointer: string; detail: string }[],
): void {
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem(code, `${first.pointer}: ${first.detail}`, { errors: [...errors] });
}
