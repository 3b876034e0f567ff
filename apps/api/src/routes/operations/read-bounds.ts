import { apiBoundsSchema } from '@holdpoint/contract/wire';
import type { ApiDeps, App } from '../../deps.ts';

export function readBoundsRoute(app: App, { bounds, ceilings = {} }: Pick<ApiDeps, 'bounds' | 'ceilings'>): void {
  app.get(
    '/v1/bounds',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getBounds',
        summary: "Read the operator's settings that bind every run",
        description: 'The settings of the API process. `/v1/workers` has those of each worker.',
        response: { 200: apiBoundsSchema },
      },
    },
    async () => ({ ...bounds, ceilings }),
  );
}
