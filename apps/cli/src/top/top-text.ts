import { ago, duration, fit, oneLine, table } from '../output/index.ts';
import type { RunningJob, Top } from './read-top.ts';

/** The present jobs as lines: a line per worker, its jobs, and the waiting jobs. @param now milliseconds since the epoch */
export function topText(
  { workers, running, queues, runs }: Top,
  { width, now }: { width: number | undefined; now: number },
): string[] {
  const active = Object.entries(runs).map(([status, count]) => `${count} ${status}`);
  const waits = queues.filter(({ waiting, parked }) => waiting + parked > 0);
  return [
    `runs: ${active.join(', ') || 'none active'}`,
    `queues: ${waits.map(queueText).join(', ') || 'nothing waits'}`,
    '',
    ...(workers.length === 0
      ? ['No worker is alive.']
      : table(
          [{ text: 'HOST' }, { text: 'WORKER' }, 'STEPS', 'TASKS', 'TURNS', 'LATE'],
          workers.map(workerRow),
          width,
        )),
    '',
    ...(running.length === 0
      ? ['Nothing runs.']
      : table(
          [{ text: 'WORKER' }, { id: 'RUN' }, { text: 'TITLE' }, 'AGE', 'COST', { text: 'WHAT' }, 'FOR', 'ATTEMPT'],
          byAge(running).map((job) => jobRow(job, now)),
          width,
        )),
  ].map((line) => (width === undefined ? line : fit(line, width)));
}

const queueText = ({ name, waiting, parked }: Top['queues'][number]): string =>
  `${name} ${waiting} waiting, ${parked} parked`;

const workerRow = ({ host, id, used, slots, loop_late_ms }: Top['workers'][number]): string[] => [
  oneLine(host),
  oneLine(id),
  ...(['steps', 'tasks', 'turns'] as const).map((kind) => `${used[kind]}/${slots[kind]}`),
  loop_late_ms === null ? '' : duration(loop_late_ms),
];

const jobRow = (job: RunningJob, now: number): string[] => [
  oneLine(job.worker),
  job.run_id,
  oneLine(job.title ?? '', 40),
  sinceText(job.run_started_at, now),
  job.cost_usd === null || job.cost_usd === 0 ? '' : `$${job.cost_usd.toFixed(2)}`,
  oneLine(job.what ?? job.kind),
  sinceText(job.started_at, now),
  job.attempt === null ? '' : String(job.attempt),
];

const sinceText = (time: string | null, now: number): string =>
  time === null ? '' : ago(time, now).replace(/ ago$/, '');

/** The longest first. */
const byAge = (jobs: readonly RunningJob[]): RunningJob[] =>
  jobs.toSorted((a, b) => (a.started_at ?? '9').localeCompare(b.started_at ?? '9'));
