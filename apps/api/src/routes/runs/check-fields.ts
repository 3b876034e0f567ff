import { type GivenLimits, type Plan, type PlanStep, type Policy, references, toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { aboveCeilings } from '@holdpoint/engine';
import { describeModelProblem, type ModelSettings } from '@holdpoint/models';
import { idleRules } from '@holdpoint/tools';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/** The limits of a run, which stand at `/limits` of the request. @throws ApiProblem `limit_above_ceiling` */
export function checkLimits({ ceilings = {} }: Pick<ApiDeps, 'ceilings'>, given: GivenLimits): void {
  const errors = aboveCeilings(given, ceilings).map(({ path, value, ceiling, setting }) => ({
    pointer: toPointer(['limits', ...path]),
    detail: `${path.join('.')} is ${value}; the operator allows ${ceiling} at most (${setting})`,
  }));
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('limit_above_ceiling', first.detail, { errors });
}

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

/**
 * The model that a run with a prompt takes; what was asked for stands at `/model` of the request.
 * @throws ApiProblem `model_not_configured`, `invalid_model_name`
 */
export function checkModel({ models }: Pick<ApiDeps, 'models'>, asked: string | undefined): string {
  const model = asked ?? models.defaultModel;
  if (model === undefined) {
    throw new ApiProblem('model_not_configured', 'a prompt needs a model, and none is configured', {
      errors: [{ pointer: '/model', detail: 'not given, and HOLDPOINT_MODEL is not set' }],
    });
  }
  checkName(models, model, '/model');
  return model;
}

/** The models of a run's sub-agents, which stand at `/models`. @throws as `checkModel` */
export function checkModels({ models }: Pick<ApiDeps, 'models'>, asked: readonly string[]): void {
  for (const [index, model] of asked.entries()) checkName(models, model, `/models/${index}`);
}

function checkName(models: ModelSettings, model: string, pointer: string): void {
  const problem = describeModelProblem(model, models);
  if (problem === null) return;
  const { code, message, next } = problem;
  throw new ApiProblem(code === 'EMODELNAME' ? 'invalid_model_name' : 'model_not_configured', message, {
    next,
    errors: [{ pointer, detail: message }],
  });
}

const mostErrors = 100;

/** Every call of a plan, which stands at `/plan` of the request. @throws ApiProblem `invalid_plan` */
export function checkPlan(deps: Pick<ApiDeps, 'catalog'>, toolset: string, plan: Plan): void {
  const errors = plan.groups.flatMap((group, g) =>
    group.steps.flatMap((step, s) => stepErrors(deps, toolset, step, ['plan', 'groups', g, 'steps', s])),
  );
  const [first] = errors;
  if (first === undefined) return;
  throw new ApiProblem('invalid_plan', `${first.pointer}: ${first.detail}`, { errors: errors.slice(0, mostErrors) });
}

/** The arguments of a step with references are known only when it runs; its tool is known now. */
function stepErrors(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  toolset: string,
  { tool, args }: PlanStep,
  path: (string | number)[],
): PointerError[] {
  const described = catalog.describe({ toolset, tool, args });
  if (described.ok) return [];
  const { error, issues } = described;
  if (error.code === 'EUNKNOWNTOOL') {
    return [{ pointer: toPointer([...path, 'tool']), detail: `${error.message} ${error.next ?? ''}`.trim() }];
  }
  if (references(args).length > 0) return [];
  const here = toPointer([...path, 'args']);
  if (issues.length === 0) return [{ pointer: here, detail: error.message }];
  return issues.map(({ pointer, detail }) => ({ pointer: `${here}${pointer}`, detail }));
}
