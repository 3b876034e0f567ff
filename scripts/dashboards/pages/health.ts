import { m, type Page, quantile, rate } from '../source.ts';

export const health: Page = {
  name: 'health',
  title: 'health',
  about: 'Processes, Redis, disk, audit and telemetry itself. docs/alerts.md says what to do about each alert.',
  rows: [
    {
      title: 'Alerts',
      panels: [
        {
          title: 'Alerts that fire',
          about: 'By name; docs/alerts.md has a section for each.',
          as: 'table',
          queries: [{ promql: 'ALERTS{alertname=~"Holdpoint.*", alertstate="firing"}' }],
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Processes',
          about: '1: Prometheus reaches the process.',
          as: 'lines',
          queries: [{ promql: 'up{job=~"holdpoint-.*"}', legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Time since the start',
          about: 'A line that falls to 0 is a restart.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: m.uptime, legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Event loop',
          about: 'Worst delay of the last minute. `busy`: computing held it up; `late`: the machine, too.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: m.loopDelay, legend: '{{job}} {{instance}} {{kind}}' }],
        },
        {
          title: 'Processor',
          about: 'Cores in use.',
          as: 'lines',
          queries: [
            { promql: `sum by (job, instance) (rate(${m.cpu}[$__rate_interval]))`, legend: '{{job}} {{instance}}' },
          ],
        },
        {
          title: 'Memory',
          about: 'Resident memory.',
          as: 'lines',
          unit: 'bytes',
          queries: [{ promql: m.memory, legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Isolation',
          about: '1: the sandbox of this worker enforces every bound. 0: it has a gap, which `holdpoint doctor` names.',
          as: 'lines',
          queries: [{ promql: m.sandboxIsolated, legend: '{{instance}}' }],
        },
      ],
    },
    {
      title: 'API',
      panels: [
        {
          title: 'Requests',
          about: 'Requests per second by status.',
          as: 'stacked',
          unit: 'reqps',
          queries: [
            {
              promql: `sum by (http_response_status_code) (rate(${m.httpDuration}_count[$__rate_interval]))`,
              legend: '{{http_response_status_code}}',
            },
          ],
        },
        {
          title: 'Time of a request',
          about: '95 % by route.',
          as: 'lines',
          unit: 's',
          queries: [
            {
              promql: quantile(0.95, 'httpDuration', { by: ['http_route'] }),
              legend: '{{http_route}}',
              exemplars: true,
            },
          ],
        },
        {
          title: 'Stream clients',
          about: 'Clients that follow events.',
          as: 'lines',
          queries: [{ promql: `sum by (instance) (${m.streamClients})`, legend: '{{instance}}' }],
        },
      ],
    },
    {
      title: 'Redis and disk',
      panels: [
        {
          title: 'Redis',
          about: '1: Redis answers, takes writes, and its append-only file is in order.',
          as: 'lines',
          queries: [
            { promql: m.redisUp, legend: 'answers' },
            { promql: m.redisWritable, legend: 'takes writes' },
            { promql: m.aofEnabled, legend: 'append-only file' },
            { promql: m.aofOk, legend: '{{operation}} of the file' },
          ],
        },
        {
          title: 'Memory of Redis',
          about: 'Used, its limit when it has one, and the data in it.',
          as: 'lines',
          unit: 'bytes',
          queries: [
            { promql: m.redisMemory, legend: 'used' },
            { promql: m.redisMemoryLimit, legend: 'limit' },
            { promql: m.logSize, legend: 'logs, states and queues' },
          ],
        },
        {
          title: 'Late writes of Redis',
          about: 'Writes per second that waited for a slow disk.',
          as: 'lines',
          unit: 'ops',
          queries: [{ promql: rate('aofDelayed'), legend: 'late' }],
        },
        {
          title: 'Append-only file',
          about: 'Its size.',
          as: 'lines',
          unit: 'bytes',
          queries: [{ promql: m.aofSize, legend: 'size' }],
        },
        {
          title: 'Free space',
          about: 'Free space on the disk of the data directory. Below the floor no new runs are accepted.',
          as: 'lines',
          unit: 'bytes',
          queries: [
            { promql: m.diskFree, legend: 'free' },
            { promql: m.diskFloor, legend: 'floor' },
          ],
        },
        {
          title: 'Data directory',
          about: 'Size by part.',
          as: 'stacked',
          unit: 'bytes',
          queries: [{ promql: m.dataSize, legend: '{{part}}' }],
        },
      ],
    },
    {
      title: 'What looks after runs',
      panels: [
        {
          title: 'Repairs',
          about: 'Stuck runs that the sweep repaired, per second and class. Without a killed process it is 0.',
          as: 'stacked',
          unit: 'ops',
          queries: [{ promql: rate('repairs', { by: ['class'] }), legend: '{{class}}' }],
        },
        {
          title: 'Periodic work',
          about: 'Time since the sweep and maintenance were last done.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: m.periodicAge, legend: '{{work}}' }],
        },
        {
          title: 'Audit',
          about: 'Age of the first event that the audit log does not cover yet.',
          as: 'lines',
          unit: 's',
          queries: [{ promql: m.auditLag, legend: 'lag' }],
        },
        {
          title: 'Telemetry that was lost',
          about: 'Spans, metrics and log lines per second that reached no receiver. Runs are not affected.',
          as: 'stacked',
          unit: 'ops',
          queries: [
            { promql: rate('dropped', { by: ['job', 'signal', 'reason'] }), legend: '{{job}} {{signal}} {{reason}}' },
          ],
        },
        {
          title: 'Follower of the logs',
          about: '1: one worker follows the logs for traces and for the metrics of runs.',
          as: 'lines',
          queries: [{ promql: `sum(${m.follower})`, legend: 'followers' }],
        },
      ],
    },
  ],
};
