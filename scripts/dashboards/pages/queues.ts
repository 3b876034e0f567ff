import { m, type Page, quantile, rate } from '../source.ts';

export const queues: Page = {
  name: 'queues',
  title: 'queues',
  about: 'What waits for a worker, and what the workers have free.',
  rows: [
    {
      title: 'Queues',
      panels: [
        {
          title: 'Jobs that wait',
          about: 'Jobs that a worker could take now. A backlog that stays means too few slots.',
          as: 'lines',
          queries: [{ promql: `sum by (queue) (${m.queueJobs}{state="backlog"})`, legend: '{{queue}}' }],
        },
        {
          title: 'Jobs that run',
          about: 'Jobs that workers have taken.',
          as: 'lines',
          queries: [{ promql: `sum by (queue) (${m.queueJobs}{state="active"})`, legend: '{{queue}}' }],
        },
        {
          title: 'Parked jobs',
          about: 'Jobs with a time to start: retries and deadlines.',
          as: 'lines',
          queries: [{ promql: `sum by (queue) (${m.queueJobs}{state="parked"})`, legend: '{{queue}}' }],
        },
        {
          title: 'Wait in the queue by tool',
          about: 'Time until a worker takes a step, 95 %.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: quantile(0.95, 'queueWait', { by: ['tool'] }), legend: '{{tool}}', exemplars: true }],
        },
        {
          title: 'Stalled jobs',
          about: 'Jobs per second whose worker fell silent. Another worker takes them.',
          as: 'lines',
          unit: 'ops',
          queries: [{ promql: rate('stalled', { by: ['queue'] }), legend: '{{queue}}' }],
        },
        {
          title: 'Time in the state queued',
          about: 'How long a run stays queued, 95 %.',
          as: 'lines',
          unit: 's',
          queries: [
            {
              promql: quantile(0.95, 'segmentDuration', { where: '{state="queued"}' }),
              legend: '95 %',
              exemplars: true,
            },
          ],
        },
      ],
    },
    {
      title: 'Workers',
      panels: [
        {
          title: 'Workers alive',
          about: 'As their heartbeats say.',
          as: 'lines',
          queries: [
            { promql: m.workers, legend: 'workers' },
            { promql: m.workersSlots, legend: 'slots for steps' },
          ],
        },
        {
          title: 'Slots in use',
          about: 'Part of the slots of each worker that are busy. At 100 % more steps wait.',
          as: 'lines',
          unit: 'percentunit',
          queries: [
            {
              promql: `sum by (instance, queue) (${m.slotsUsed}) / sum by (instance, queue) (${m.slots})`,
              legend: '{{instance}} {{queue}}',
            },
          ],
        },
        {
          title: 'Workers that take no jobs',
          about: 'A worker is held while the disk has no space (`space`) or Redis refuses writes (`redis`).',
          as: 'lines',
          queries: [{ promql: `sum by (instance, reason) (${m.workerHeld})`, legend: '{{instance}} {{reason}}' }],
        },
      ],
    },
  ],
};
