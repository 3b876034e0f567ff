import { apiBoundsSchema } from '@holdpoint/contract/wire';
import type { ApiDeps, App } from '../../deps.ts';

export function readBoundsRoute(app: App, { bounds, ceilings = {} }: Pick<ApiDeps, 'bounds' | 'ceilings'>): void {
  app.get(
    '/v1/bounds',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getBounds',
        summary: "Read what of the operator's binds every run",
        description: 'As the API was started with it. The workers say in `/v1/workers` what they were started with.',
        response: { 200: apiBoundsSchema },
      },
    },
    async () => ({ ...bounds, ceilings }),
  );
}
