import { describeModelProblem, type ModelSettings } from '@holdpoint/models';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

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
