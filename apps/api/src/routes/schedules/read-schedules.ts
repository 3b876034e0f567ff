import * as wire from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { showEach } from '../../errors/show-damaged.ts';
import { findSchedule, toView } from './schedule-view.ts';

const tags = ['schedules'];
const config = { access: 'schedules:read' } as const;

export function readSchedulesRoutes(app: App): void {
  app.get(
    '/v1/schedules',
    {
      config,
      schema: {
        tags,
        operationId: 'listSchedules',
        summary: 'List schedules by name',
        response: { 200: wire.scheduleListSchema },
      },
    },
    async ({ deps }) => {
      const found = await deps.schedules.store.list(deps.holder.caller.tenant);
      return showEach(deps, found, { idOf: ({ state }) => state.name, show: async ({ state }) => toView(state) });
    },
  );

  app.get(
    '/v1/schedules/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'getSchedule',
        summary: 'Read a schedule',
        params: wire.scheduleParamsSchema,
        response: { 200: wire.scheduleSchema },
      },
    },
    async ({ params: { name }, deps }) => toView((await findSchedule(deps, name)).state),
  );

  app.get(
    '/v1/schedules/:name/occurrences',
    {
      config,
      schema: {
        tags,
        operationId: 'listOccurrences',
        summary: 'What became of the last occurrences of a schedule, the newest first',
        description: 'The last 200 records are kept. The runs of a schedule also have the label `schedule`.',
        params: wire.scheduleParamsSchema,
        querystring: wire.occurrencesQuerySchema,
        response: { 200: wire.occurrenceListSchema },
      },
    },
    async ({ params: { name }, query: { limit }, deps }) => {
      const { state } = await findSchedule(deps, name);
      return { data: await deps.schedules.store.history(state, limit) };
    },
  );
}
