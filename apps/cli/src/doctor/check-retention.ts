import type { Run, Worker } from '@holdpoint/contract/wire';
import { bytes } from '../output/bytes.ts';
import type { Finding } from './finding.ts';

const name = 'retention';
const next =
  'Discard runs that are not needed any more, publish what is to stay, or set HOLDPOINT_RETAIN_RUNS for the workers.';

/** Why a workspace is there. */
const reasons = ['running', 'parked', 'unpublished', 'published', 'ended'] as const;
type Reason = (typeof reasons)[number];

/**
 * What the workers were started with, for they remove workspaces; and what holds those that are there.
 * @param input.runs those the API knows
 * @param input.sizes bytes of each workspace that was looked at
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
    settings.length === 0
      ? 'not known: no worker is alive to say how it was started'
      : settings.join('\nanother worker: '),
    ...some.map((one) => `${one.reason} ${one.runs} runs, ${bytes(one.bytes)}`),
  ];
  const finding = { name, text: lines.join('\n'), data: { held } };
  if (settings.length < 2) return { ...finding, level: 'ok', ...(some.some(isHeld) ? { next } : {}) };
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
  return `workspaces go ${bounds.join(', or ')}; of a run whose change set is not published only the tree`;
}

function reasonOf({ status, publication }: Pick<Run, 'status' | 'publication'>): Reason {
  if (status === 'waiting' || status === 'paused') return 'parked';
  if (status === 'queued' || status === 'running' || status === 'canceling') return 'running';
  if (publication.status === 'published') return 'published';
  return status === 'succeeded' ? 'unpublished' : 'ended';
}
