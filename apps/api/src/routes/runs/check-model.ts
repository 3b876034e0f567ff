import { describeModelProblem } from '@holdpoint/models/model-problem';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

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
  const problem = describeModelProblem(model, models);
  if (problem === null) return model;
  const { code, message, next } = problem;
  throw new ApiProblem(code === 'EMODELNAME' ? 'invalid_model_name' : 'model_not_configured', message, {
    next,
    errors: [{ pointer: '/model', detail: message }],
  });
}
