import type { Occurrence } from '@holdpoint/contract';
import { advance, type RunEnd } from './advance.ts';
import type { ScheduleState, ScheduleStore, StoredSchedule } from './store.ts';

/** A schedule with an occurrence that was taken, under the id of its run. */
export type Submitting = ScheduleState & { submitting: NonNullable<ScheduleState['submitting']> };

export interface Submitted {
  /** Without `submitting`. */
  state: ScheduleState;
  recorded: Occurrence;
}

export interface LookDeps {
  store: ScheduleStore;
  now: () => number;
  newRunId: () => string;
  /** Has this schedule looked at once more. */
  wake: (schedule: { tenant: string; name: string }, at: number) => Promise<void>;
  /** Submits a run under an id that is already chosen. May be called again for the same occurrence, and makes one run. */
  submit: (state: Submitting) => Promise<Submitted>;
  endOf: (state: ScheduleState, runId: string) => Promise<RunEnd>;
  cancel: (state: ScheduleState, runId: string) => Promise<void>;
}

const mostRounds = 1000;

/**
 * Moves a schedule on until nothing is due. Any process may die at any point, and several may look at once: an occurrence is taken, and the
 * id of its run chosen, in one conditional write, so it has one run.
 */
export async function lookAtSchedule(deps: LookDeps, schedule: { tenant: string; name: string }): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    const found = await deps.store.find(schedule);
    if (found === undefined) return;
    const wakeAt = await moveOn(deps, found);
    if (wakeAt === 'again') continue;
    if (wakeAt !== undefined) await deps.wake(schedule, wakeAt);
    return;
  }
  await deps.wake(schedule, deps.now());
}

/** @returns when to look next; `again`: now */
async function moveOn(deps: LookDeps, { revision, state }: StoredSchedule): Promise<number | undefined | 'again'> {
  const { store, now, newRunId, submit, cancel } = deps;
  if (isSubmitting(state)) {
    const { state: after, recorded } = await submit(state);
    await store.put({ after: revision, state: { ...after, last: recorded }, wakeAt: now(), recorded: [recorded] });
    return 'again';
  }
  const next = advance(state, { now: now(), ends: await readEnds(deps, state), newRunId });
  if ((await store.put({ after: revision, ...next })) !== 'stored') return 'again';
  for (const runId of next.cancel) await cancel(next.state, runId);
  return next.state.submitting === undefined ? next.wakeAt : 'again';
}

const isSubmitting = (state: ScheduleState): state is Submitting => state.submitting !== undefined;

/** No end matters to an occurrence that begins whatever runs: a large backfill reads its runs once, not for each of them. */
async function readEnds({ endOf }: LookDeps, state: ScheduleState): Promise<Map<string, RunEnd>> {
  if (state.waiting.some(({ beside }) => beside)) return new Map();
  const ends = state.running.map(async ({ run_id }) => [run_id, await endOf(state, run_id)] as const);
  return new Map(await Promise.all(ends));
}
