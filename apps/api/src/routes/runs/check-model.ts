import { outsideAgentName, outsideAgents, type RunSpec } from '@holdpoint/contract';
import { describeModelProblem, type ModelSettings, modelProviders } from '@holdpoint/models';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

/**
 * The model of a run with a prompt; the requested name is at `/model` of the request.
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

/**
 * The model that an outside agent asks: of a provider whose format it speaks.
 * @throws ApiProblem `model_not_configured`, `invalid_model_name`
 */
export function checkAgentModel(deps: Pick<ApiDeps, 'models'>, agent: string, asked: string | undefined): string {
  const name = outsideAgentName(agent);
  const providers: readonly string[] = name === undefined ? modelProviders : outsideAgents[name].providers;
  const fits = (name: string) => providers.includes(name.slice(0, name.indexOf('/')));
  const { defaultModel } = deps.models;
  const usual = defaultModel !== undefined && fits(defaultModel) ? defaultModel : undefined;
  const model = asked ?? usual;
  const next = `Name a model of ${providers.join(', ')}: --model ${providers[0]}/…`;
  if (model === undefined) {
    const detail = `not given, and HOLDPOINT_MODEL is none that ${agent} asks`;
    throw new ApiProblem('model_not_configured', `${agent} needs a model`, {
      next,
      errors: [{ pointer: '/model', detail }],
    });
  }
  if (!fits(model)) {
    const detail = `${agent} asks models of ${providers.join(', ')}`;
    throw new ApiProblem('invalid_model_name', detail, { next, errors: [{ pointer: '/model', detail }] });
  }
  return checkModel(deps, model);
}

/** Another model for a run: one that its outside agent asks, where the run has one. @throws as `checkModel` */
export const checkOtherModel = (
  deps: Pick<ApiDeps, 'models'>,
  { goal }: Pick<RunSpec, 'goal'>,
  model: string,
): string =>
  goal.planner === 'model' && goal.outside_agent !== undefined
    ? checkAgentModel(deps, goal.outside_agent, model)
    : checkModel(deps, model);

/** A list of models, at `place` of the request. @throws as `checkModel` */
export function checkModels({ models }: Pick<ApiDeps, 'models'>, asked: readonly string[], place = '/models'): void {
  for (const [index, model] of asked.entries()) checkName(models, model, `${place}/${index}`);
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
