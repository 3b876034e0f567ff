import type { Run, Worker } from '@holdpoint/contract/wire';
import { bytes, counted } from '../output/index.ts';
import type { Finding } from './finding.ts';

const name = 'retention';
const next = 'Discard runs that you no longer need, publish the others, or set HOLDPOINT_RETAIN_RUNS for the workers.';

/** Why a workspace is kept. */
const reasons = ['running', 'parked', 'unpublished', 'published', 'ended'] as const;
type Reason = (typeof reasons)[number];

/**
 * The workers' settings, since workers remove workspaces, and why the existing workspaces are kept.
 * @param input.sizes bytes of each measured workspace
 */
export function checkRetention(input: {
  workers: readonly Pick<Worker, 'retention'>[];
  runs: readonly Pick<Run, 'id' | 'status' | 'publication'>[];
  sizes: ReadonlyMap<string, number>;
}): Finding {
  const { workers, runs, sizes } = input;
  const settings = [...new Set(workers.map(({ retention }) => textOf(retention)))];
  const held = reasons.map((reason) => {
    const those = runs.filter((run) => sizes.has(run.id) && reasonOf(run) === reason);
    return { reason, runs: those.length, bytes: those.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0) };
  });
  const some = held.filter((one) => one.runs > 0);
  const lines = [
    settings.length === 0 ? 'unknown: no worker is alive to report its settings' : settings.join('\nanother worker: '),
    ...some.map((one) => `${one.reason} ${counted(one.runs, 'run')}, ${bytes(one.bytes)}`),
  ];
  const finding = { name, text: lines.join('\n'), data: { held } };
  if (settings.length < 2) return { ...finding, level: 'ok', next: some.some(isHeld) ? next : undefined };
  return {
    ...finding,
    level: 'warn',
    next: 'Start all workers with the same HOLDPOINT_RETAIN_DAYS and HOLDPOINT_RETAIN_RUNS.',
  };
}

const isHeld = ({ reason }: { reason: Reason }): boolean => reason === 'unpublished' || reason === 'parked';

function textOf(retention: Worker['retention']): string {
  const { days = null, runs = null } = retention ?? {};
  const bounds = [
    ...(days === null ? [] : [`${days} days after the run has ended (HOLDPOINT_RETAIN_DAYS)`]),
    ...(runs === null ? [] : [`when ${runs} later runs have ended (HOLDPOINT_RETAIN_RUNS)`]),
  ];
  if (bounds.length === 0) {
    return 'off: workspaces stay until their run is discarded (HOLDPOINT_RETAIN_DAYS, HOLDPOINT_RETAIN_RUNS of the workers)';
  }
  return `workspaces are removed ${bounds.join(', or ')}; a run with an unpublished change set loses only its tree`;
}

function reasonOf({ status, publication }: Pick<Run, 'status' | 'publication'>): Reason {
  if (status === 'waiting' || status === 'paused') return 'parked';
  if (status === 'queued' || status === 'running' || status === 'canceling') return 'running';
  if (publication.status === 'published') return 'published';
  return status === 'succeeded' ? 'unpublished' : 'ended';
}
