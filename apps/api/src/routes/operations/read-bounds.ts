import { apiBoundsSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';

export function readBoundsRoute(app: App): void {
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
    async ({ deps: { bounds, ceilings = {} } }) => ({ ...bounds, ceilings }),
  );
}
