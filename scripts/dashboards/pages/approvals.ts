import { buckets, happened, m, type Page, quantile, toRun } from '../source.ts';

export const approvals: Page = {
  name: 'approvals',
  title: 'approvals',
  about: 'What waits for people, and how long people take. `holdpoint approvals` lists what waits.',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Approvals that wait',
          about: 'Open approvals of all tenants.',
          as: 'number',
          queries: [{ promql: m.approvalsPending }],
        },
        {
          title: 'Oldest',
          about: 'How long the oldest has waited.',
          as: 'number',
          unit: 's',
          queries: [{ promql: m.approvalsOldest }],
          warn: 3600,
          bad: 14_400,
        },
        {
          title: 'Next to expire',
          about: 'Time until the first open approval expires. Without one that expires there is no value.',
          as: 'number',
          unit: 's',
          queries: [{ promql: m.approvalsExpiry }],
        },
        {
          title: 'Runs that wait for approval',
          about: 'A run may wait for several approvals.',
          as: 'number',
          queries: [{ promql: `sum(${m.runs}{state="waiting", reason="approval"}) or vector(0)` }],
        },
        {
          title: 'Decisions',
          about: 'Decisions in the time shown.',
          as: 'number',
          queries: [{ promql: `${happened('decisionDuration')} or vector(0)` }],
        },
        {
          title: 'Expired',
          about: 'Approvals that expired without a decision, in the time shown.',
          as: 'number',
          queries: [{ promql: `${happened('decisionDuration', { where: '{decision="expired"}' })} or vector(0)` }],
          warn: 1,
        },
      ],
    },
    {
      title: 'Over time',
      panels: [
        {
          title: 'Open approvals',
          about: 'When it only rises, people do not decide.',
          as: 'lines',
          queries: [{ promql: m.approvalsPending, legend: 'open' }],
        },
        {
          title: 'Decisions by kind',
          about: 'Decisions in each interval.',
          as: 'stacked',
          queries: [
            {
              promql: `sum by (kind, decision) (increase(${m.decisionDuration}_count[$__rate_interval]))`,
              legend: '{{kind}} {{decision}}',
            },
          ],
        },
        {
          title: 'Time to decide',
          about: 'From the request to the decision. A point leads to the trace of the run.',
          as: 'heatmap',
          unit: 's',
          queries: [{ promql: buckets('decisionDuration'), legend: '{{le}}', exemplars: true }],
        },
        {
          title: 'Median time to decide',
          about: 'By kind of approval.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: quantile(0.5, 'decisionDuration', { by: ['kind'] }), legend: '{{kind}}' }],
        },
      ],
    },
    {
      title: 'Traces',
      panels: [
        {
          title: 'Waits for a decision that ended',
          about: 'Who decided what. A click leads to the page of the run.',
          as: 'table',
          queries: [
            {
              traceql:
                '{ span.holdpoint.wait.for = "approval" } | select(span.holdpoint.run.id, span.holdpoint.approval.id, span.holdpoint.approval.kind, span.holdpoint.approval.decision, span.holdpoint.approval.decided_by)',
              of: 'spans',
            },
          ],
          links: [toRun],
        },
      ],
    },
  ],
};
