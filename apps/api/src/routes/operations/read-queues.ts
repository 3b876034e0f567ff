import { type Queue, queueListSchema } from '@holdpoint/contract/wire';
import { queueNames } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';

const names = Object.keys(queueNames) as (keyof typeof queueNames)[];

export function readQueuesRoute(app: App): void {
  app.get(
    '/v1/queues',
    {
      config: { access: 'queues:admin' },
      schema: {
        tags: ['operations'],
        operationId: 'listQueues',
        summary: 'Count the jobs of each queue',
        response: { 200: queueListSchema },
      },
    },
    async ({ deps }) => ({ data: await countJobs(deps.queues) }),
  );
}

export const countJobs = (queues: ApiDeps['queues']): Promise<Queue[]> =>
  Promise.all(names.map((name) => count(queues, name)));

/** The backlog leaves out delayed jobs, because no worker would take them now. */
async function count(queues: ApiDeps['queues'], name: (typeof names)[number]): Promise<Queue> {
  const counts = await queues[name].getJobCounts('waiting', 'prioritized', 'active', 'delayed');
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0 } = counts;
  return { name, backlog: waiting + prioritized, active, parked: delayed };
}
