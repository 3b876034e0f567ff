import { buckets, m, observed, type Page, quantile, rate, toRun } from '../source.ts';

const chosen = '{tool=~"$tool"}';

export const steps: Page = {
  name: 'steps',
  title: 'steps',
  about: 'Tool calls: how many, how long, how they end, and what sandboxes, workspaces and connections cost.',
  variables: [{ name: 'tool', label: 'Tool', valuesOf: 'tool', of: `${m.stepDuration}_count` }],
  rows: [
    {
      title: 'Calls',
      panels: [
        {
          title: 'Steps by tool',
          about: 'Steps per second.',
          as: 'stacked',
          unit: 'ops',
          queries: [{ promql: observed('stepDuration', { by: ['tool'], where: chosen }), legend: '{{tool}}' }],
        },
        {
          title: 'Steps by outcome',
          about: 'Steps per second. Denied and rejected steps never ran.',
          as: 'stacked',
          unit: 'ops',
          queries: [{ promql: observed('stepDuration', { by: ['outcome'], where: chosen }), legend: '{{outcome}}' }],
        },
        {
          title: 'Steps by verdict of the gate',
          about: 'Steps per second: allowed, held for a person, or denied.',
          as: 'stacked',
          unit: 'ops',
          queries: [
            { promql: `sum by (verdict) (rate(${m.gateVerdicts}${chosen}[$__rate_interval]))`, legend: '{{verdict}}' },
          ],
        },
        {
          title: 'Attempts that did not succeed',
          about:
            'Attempts per second. `lost`: the worker died; `indeterminate`: a person decides whether it took effect.',
          as: 'stacked',
          unit: 'ops',
          queries: [
            {
              promql: observed('attemptDuration', {
                by: ['tool', 'outcome'],
                where: '{tool=~"$tool", outcome!="succeeded"}',
              }),
              legend: '{{tool}} {{outcome}}',
            },
          ],
        },
        {
          title: 'Duration of attempts',
          about: 'What a tool itself takes, 95 % of the attempts.',
          as: 'lines',
          unit: 's',
          queries: [
            {
              promql: quantile(0.95, 'attemptDuration', { by: ['tool'], where: chosen }),
              legend: '{{tool}}',
              exemplars: true,
            },
          ],
        },
        {
          title: 'Duration of steps',
          about: 'From the plan to the outcome, waits for people included. A point leads to the trace of a run.',
          as: 'heatmap',
          unit: 's',
          queries: [{ promql: buckets('stepDuration', chosen), legend: '{{le}}', exemplars: true }],
        },
        {
          title: 'Duration of turns',
          about: 'One planner decision; of a model, its request and answer.',
          as: 'lines',
          unit: 's',
          queries: [
            { promql: quantile(0.95, 'turnDuration', { by: ['operation'] }), legend: '{{operation}}', exemplars: true },
          ],
        },
        {
          title: 'Background commands and sub-agents',
          about: 'Tasks per second by kind and outcome.',
          as: 'stacked',
          unit: 'ops',
          queries: [{ promql: observed('taskDuration', { by: ['kind', 'outcome'] }), legend: '{{kind}} {{outcome}}' }],
        },
      ],
    },
    {
      title: 'Sandboxes and workspaces',
      panels: [
        {
          title: 'Sandbox set-up',
          about: 'Time until a sandbox can begin its work, 95 %.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: quantile(0.95, 'sandboxSetup', { by: ['kind'] }), legend: '{{kind}}' }],
        },
        {
          title: 'Operations on workspaces',
          about: 'Time of snapshots, take-overs, publishes and others, 95 %.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: quantile(0.95, 'workspaceDuration', { by: ['operation'] }), legend: '{{operation}}' }],
        },
        {
          title: 'Publishes',
          about: 'Publishes per second by outcome. A conflict is decided by a person.',
          as: 'stacked',
          unit: 'ops',
          queries: [{ promql: observed('publishDuration', { by: ['outcome'] }), legend: '{{outcome}}' }],
        },
        {
          title: 'Validators',
          about: 'Time of validators before a publish, 95 %, by outcome.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: quantile(0.95, 'validateDuration', { by: ['outcome'] }), legend: '{{outcome}}' }],
        },
        {
          title: 'Connections',
          about: 'Connections of runs to the outside per second, by verdict and code of the refusal.',
          as: 'stacked',
          unit: 'ops',
          queries: [
            { promql: rate('egressConnections', { by: ['verdict', 'reason'] }), legend: '{{verdict}} {{reason}}' },
          ],
        },
        {
          title: 'Bytes of connections',
          about: 'Bytes per second.',
          as: 'lines',
          unit: 'Bps',
          queries: [{ promql: rate('egressBytes', { by: ['direction'] }), legend: '{{direction}}' }],
        },
      ],
    },
    {
      title: 'Traces',
      panels: [
        {
          title: 'Steps that failed',
          about: 'The latest steps that did not succeed. A click leads to the page of the run.',
          as: 'table',
          queries: [
            {
              traceql:
                '{ span.gen_ai.operation.name = "execute_tool" && status = error } | select(span.holdpoint.run.id, span.holdpoint.step.id, span.holdpoint.step.outcome, span.error.type)',
              of: 'spans',
            },
          ],
          links: [toRun],
        },
      ],
    },
  ],
};
