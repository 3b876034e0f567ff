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
          [{ text: 'WORKER' }, { id: 'RUN' }, { text: 'WHAT' }, 'FOR', 'ATTEMPT'],
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

const jobRow = ({ worker, run_id, what, kind, started_at, attempt }: RunningJob, now: number): string[] => [
  oneLine(worker),
  run_id,
  oneLine(what ?? kind),
  started_at === null ? '' : ago(started_at, now).replace(/ ago$/, ''),
  attempt === null ? '' : String(attempt),
];

/** The longest first. */
const byAge = (jobs: readonly RunningJob[]): RunningJob[] =>
  jobs.toSorted((a, b) => (a.started_at ?? '9').localeCompare(b.started_at ?? '9'));
