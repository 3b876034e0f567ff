import { cancelStepSchema, idParamsSchema, stepDetailSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { showStep } from './step-view.ts';

export function cancelStepRoute(app: App): void {
  app.post(
    '/v1/steps/:id/cancel',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['steps'],
        operationId: 'cancelStep',
        summary: 'Cancel one call of a run; the run and the other calls continue',
        description:
          'The request is recorded before the answer, and the call never starts again. A call that runs is killed soon after, with its processes; ' +
          'its files stay as it left them. A call that waits for its background command or sub-agent ends with that; any other one is over with the ' +
          'answer, and the approval that it waited for is canceled; so is a call of an open run that waits behind an earlier turn. The result of the call says who canceled it. Again: nothing. 409 ' +
          '`step_settled`: the call was over before.',
        params: idParamsSchema,
        body: cancelStepSchema.nullish(),
        response: { 200: stepDetailSchema },
      },
    },
    async ({ params, body, deps }) => {
      await deps.engine.runs.cancelStep(params.id, { message: body?.message });
      return showStep(deps, params.id);
    },
  );
}
