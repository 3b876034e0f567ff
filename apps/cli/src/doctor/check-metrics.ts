import type { Worker } from '@holdpoint/contract/wire';
import type { Finding } from './finding.ts';

/** Where the metrics of workers are. */
export function checkMetrics(workers: readonly Worker[]): Finding[] {
  const name = 'metrics';
  if (workers.length === 0) return [];
  const places = workers.flatMap(({ metrics }) => metrics ?? []);
  if (places.length === 0) return [{ name, level: 'ok', text: 'off (HOLDPOINT_METRICS)' }];
  const text = `/metrics of the API, and ${places.join(', ')}`;
  if (places.length === workers.length) return [{ name, level: 'ok', text }];
  const without = workers.length - places.length;
  return [
    {
      ...{ name, level: 'warn', text: `${text}; ${without} workers have none` },
      next: 'Start all workers with the same HOLDPOINT_METRICS: one of them follows the logs, and it may be one without.',
    },
  ];
}
