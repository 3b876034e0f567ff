import type { Client } from '@holdpoint/client';
import type { Periodic, Stuck, Worker } from '@holdpoint/contract/wire';
import { commandLine } from '../shell/index.ts';
import type { Finding } from './finding.ts';

export function judgePeriodic(name: string, last: Periodic): Finding {
  if (!last.overdue) return { name, level: 'ok', text: last.last_at === null ? 'not yet' : `last at ${last.last_at}` };
  return {
    ...{ name, level: 'fail', text: `overdue: last at ${last.last_at ?? 'no time'}` },
    next: 'Start a worker. If one runs, restart it and read its log: until then stuck runs are not repaired.',
  };
}

/** Places of runs in progress, and how many runs stand in line. */
function placesOf(places: Stuck['places']): Finding[] {
  if (places === undefined) return [];
  const { working, asking, waiting } = places;
  const used = `${working.used} of ${working.of} runs in progress work, ${asking.used} of ${asking.of} ask a model`;
  return [{ name: 'places', level: 'ok', text: `${used}; ${waiting} ${waiting === 1 ? 'stands' : 'stand'} in line` }];
}

/** Repairs by the sweeper, and runs in wait for a person. */
export async function checkStuck(client: Client): Promise<Finding[]> {
  const [{ repairs, runs, paused, places, sweep, maintenance }, queues] = await Promise.all([
    client.stuck(),
    client.listQueues(),
  ]);
  const count = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([name, number]) => `${number} ${name}`)
      .join(', ');
  const work = queues.map(({ name, backlog, active, parked }) => `${name} ${backlog}/${active}/${parked}`).join(', ');
  return [
    { name: 'runs', level: 'ok', text: `active: ${count(runs) || 'none'}` },
    ...placesOf(places),
    { name: 'queues', level: 'ok', text: `waiting/active/parked: ${work}` },
    judgePeriodic('sweep', sweep),
    judgePeriodic('maintenance', maintenance),
    Object.keys(paused).length === 0
      ? { name: 'paused runs', level: 'ok', text: 'none' }
      : {
          ...{ name: 'paused runs', level: 'warn', text: count(paused) },
          next: `To see why: ${commandLine('runs', 'list', '--status', 'paused')}; then resume, retry or cancel them.`,
        },
    Object.keys(repairs).length === 0
      ? { name: 'repairs', level: 'ok', text: 'none' }
      : {
          ...{ name: 'repairs', level: 'warn', text: count(repairs) },
          next: 'A process died, the power failed, or Redis lost data (check appendfsync). The logs of the runs name the cause (run.repaired, workspace.distrusted).',
        },
  ];
}

/** Workers with aborted but unfinished jobs. */
export const checkStuckHandlers = (workers: readonly Worker[]): Finding[] =>
  workers.flatMap(({ id, stuck = 0 }): Finding[] =>
    stuck === 0
      ? []
      : [
          {
            ...{ name: 'stuck jobs', level: 'warn' },
            text: `worker ${id} aborted ${stuck} jobs that have not ended; their places are free`,
            next: 'Its log names their runs (event handler_stuck). Look for a disk or a remote that does not answer; the worker restarts itself when they add up.',
          },
        ],
  );

const maxLateMs = 1000;

/** Workers whose event loop was blocked: a blocked worker renews no locks and sees no cancel. */
export const checkLoops = (workers: readonly Worker[]): Finding[] =>
  workers.flatMap(({ id, loop }): Finding[] => {
    if (loop === undefined || loop.late_ms <= maxLateMs) return [];
    const { late_ms, busy_ms } = loop;
    const isOwnWork = busy_ms > late_ms / 2;
    return [
      {
        ...{ name: 'event loop', level: 'warn' },
        text: `worker ${id} was blocked for ${late_ms} ms, of these ${busy_ms} ms by its own work`,
        next: isOwnWork
          ? 'Its log names the steps that were running (event loop_late); report this as a bug, with those steps.'
          : 'Other programs used the processors: add processors, or run fewer steps at once (HOLDPOINT_WORKER_STEPS).',
      },
    ];
  });

/** The addresses of the workers' metrics. */
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
