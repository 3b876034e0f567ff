import { buckets, increase, m, observed, type Page, quantile, rate, toRun } from '../source.ts';

export const overview: Page = {
  name: 'overview',
  title: 'overview',
  about: 'Whether the system works, what runs and what waits. Each row leads to a page of its own.',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Workers alive',
          about: 'Without a worker runs are accepted and wait.',
          as: 'number',
          queries: [{ promql: m.workers }],
        },
        {
          title: 'Active runs',
          about: 'Runs that have not ended.',
          as: 'number',
          queries: [{ promql: `sum(${m.runs}{state!="ended"})` }],
        },
        {
          title: 'Approvals that wait',
          about: 'Runs that a person holds up. The page about approvals has their age.',
          as: 'number',
          queries: [{ promql: m.approvalsPending }],
          links: [{ title: 'approvals', url: '/d/holdpoint-approvals' }],
        },
        {
          title: 'Oldest approval',
          about: 'How long the oldest approval has waited.',
          as: 'number',
          unit: 's',
          queries: [{ promql: m.approvalsOldest }],
          warn: 3600,
          bad: 14_400,
          links: [{ title: 'approvals', url: '/d/holdpoint-approvals' }],
        },
        {
          title: 'Cost',
          about: 'Cost of the models in the time shown.',
          as: 'number',
          unit: 'currencyUSD',
          queries: [{ promql: `${increase('cost')} or vector(0)` }],
          links: [{ title: 'models and cost', url: '/d/holdpoint-models' }],
        },
        {
          title: 'Repairs',
          about: 'Stuck runs that the sweep repaired in the time shown. Without a killed process it is 0.',
          as: 'number',
          queries: [{ promql: `${increase('repairs')} or vector(0)` }],
          warn: 1,
          links: [{ title: 'health', url: '/d/holdpoint-health' }],
        },
      ],
    },
    {
      title: 'Runs',
      panels: [
        {
          title: 'Runs by state',
          about: 'Active runs. A waiting run occupies no worker.',
          as: 'stacked',
          queries: [{ promql: `sum by (state, reason) (${m.runs}{state!="ended"})`, legend: '{{state}} {{reason}}' }],
        },
        {
          title: 'Runs that ended',
          about: 'Runs per second by outcome. `reason` is the code of a failure.',
          as: 'stacked',
          unit: 'ops',
          queries: [{ promql: rate('runsEnded', { by: ['outcome', 'reason'] }), legend: '{{outcome}} {{reason}}' }],
        },
        {
          title: 'Duration of runs',
          about: 'From submit to end, waits for people included. A point leads to the trace of a run.',
          as: 'heatmap',
          unit: 's',
          queries: [{ promql: buckets('runDuration'), legend: '{{le}}', exemplars: true }],
        },
        {
          title: 'Where the time goes',
          about:
            'Seconds per second that runs spend in each state: waiting is time of people, queued is lack of workers.',
          as: 'stacked',
          unit: 's',
          queries: [
            { promql: `sum by (state) (rate(${m.segmentDuration}_sum[$__rate_interval]))`, legend: '{{state}}' },
          ],
        },
        {
          title: 'Steps',
          about: 'Steps per second by outcome.',
          as: 'stacked',
          unit: 'ops',
          queries: [{ promql: observed('stepDuration', { by: ['outcome'] }), legend: '{{outcome}}' }],
          links: [{ title: 'steps', url: '/d/holdpoint-steps' }],
        },
        {
          title: 'Wait in the queue',
          about: 'Time until a worker takes a step. When it grows, workers or slots are missing.',
          as: 'lines',
          unit: 's',
          queries: [
            { promql: quantile(0.5, 'queueWait'), legend: 'median' },
            { promql: quantile(0.95, 'queueWait'), legend: '95 %', exemplars: true },
          ],
          links: [{ title: 'queues', url: '/d/holdpoint-queues' }],
        },
      ],
    },
    {
      title: 'Traces',
      panels: [
        {
          title: 'Runs that failed',
          about: 'The latest runs that failed. A click leads to the page of the run.',
          as: 'table',
          queries: [
            {
              traceql:
                '{ span.holdpoint.run.outcome = "failed" } | select(span.holdpoint.run.id, span.holdpoint.run.planner)',
              of: 'spans',
            },
          ],
          links: [toRun],
        },
      ],
    },
  ],
};
