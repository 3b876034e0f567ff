import { type ApiBounds, apiBoundsSchema } from '@holdpoint/contract/wire';
import { describeModelProblem, type ModelSettings } from '@holdpoint/models';
import type { App } from '../../deps.ts';
import type { SignIn } from '../../sign-in/open-sign-in.ts';

export function readBoundsRoute(app: App, signIn: SignIn | undefined): void {
  app.get(
    '/v1/bounds',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['operations'],
        operationId: 'getBounds',
        summary: "Read the operator's settings that bind every run",
        description: 'The settings of the API process. `/v1/workers` has those of each worker.',
        response: { 200: apiBoundsSchema },
      },
    },
    async ({ deps: { bounds, ceilings = {}, models } }) => ({
      ...bounds(),
      ...{ ceilings, model: defaultModel(models) },
      sign_in: signIn === undefined ? null : await signIn.describe(),
    }),
  );
}

function defaultModel(models: ModelSettings): ApiBounds['model'] {
  const name = models.defaultModel ?? null;
  return { name, problem: name === null ? null : describeModelProblem(name, models) };
}
