import { logLevelChangeSchema, logLevelReachedSchema } from '@holdpoint/contract/wire';
import { setLogLevel } from '@holdpoint/engine';
import { type App, recordChange } from '../../deps.ts';

/** PUT /v1/log-level */
export function setLogLevelRoute(app: App): void {
  app.put(
    '/v1/log-level',
    {
      config: { access: 'queues:admin' },
      schema: {
        tags: ['operations'],
        operationId: 'setLogLevel',
        summary: 'Change what the API, the workers, or all of them log',
        description:
          'Holds until a process ends, or until the next change. `default` is the level that each process was started with.',
        body: logLevelChangeSchema,
        response: { 200: logLevelReachedSchema },
      },
    },
    async ({ body, deps }) => {
      await recordChange(deps, { subject: 'log-level', action: 'changed', detail: body });
      return { ...body, processes: await setLogLevel(deps.redis, body) };
    },
  );
}
