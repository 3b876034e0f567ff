import { advance, type Reading } from './advance.ts';
import type { EvalState, Repeat } from './state.ts';
import type { EvalStore } from './store.ts';

export type Forking = Repeat & { run_id: string };

export interface EvalLookDeps {
  store: EvalStore;
  now: () => number;
  newRunId: () => string;
  /** Has this evaluation looked at once more. */
  wake: (one: { tenant: string; id: string }, at: number) => Promise<void>;
  /**
   * Makes the fork of a repeat under an id that is already chosen. May be called again, and makes one run.
   * @returns why it can never begin; undefined: it has begun
   */
  fork: (state: EvalState, repeat: Forking) => Promise<string | undefined>;
  read: (state: EvalState, runId: string) => Promise<Reading>;
  validate: (state: EvalState, runId: string) => Promise<void>;
  cancel: (state: EvalState, runId: string) => Promise<void>;
}

const mostRounds = 1000;
/** Milliseconds between two looks at forks that run. */
const lookEveryMs = 1000;

/**
 * Moves an evaluation on until it has to wait for its forks. Any process may die at any point, and several may look at once: a repeat is
 * taken, and the id of its fork chosen, in one conditional write, so it has one run. Validators and cancellations are asked for again at each
 * look until the fork shows them.
 */
export async function lookAtEval(deps: EvalLookDeps, one: { tenant: string; id: string }): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    const found = await deps.store.find(one);
    if (found === undefined || found.state.ended_at !== undefined) return;
    const wakeAt = await moveOn(deps, found.state, found.revision);
    if (wakeAt === 'again') continue;
    if (wakeAt !== undefined) await deps.wake(one, wakeAt);
    return;
  }
  await deps.wake(one, deps.now());
}

/** @returns when to look next; undefined: it has ended; `again`: now */
async function moveOn(deps: EvalLookDeps, before: EvalState, revision: string): Promise<number | undefined | 'again'> {
  const { store, now, newRunId } = deps;
  const forked = await forkAll(deps, before);
  const readings = await readAll(deps, forked);
  const { state, hasChanged } = advance(forked, { readings, now: now(), newRunId });
  if (hasChanged || forked !== before) {
    const wakeAt = state.ended_at === undefined ? now() + lookEveryMs : undefined;
    if ((await store.put({ after: revision, state, wakeAt })) !== 'stored') return 'again';
  }
  if (state.ended_at !== undefined) return undefined;
  await askForks(deps, state, readings);
  return state.repeats.some(({ status }) => status === 'forking') ? 'again' : now() + lookEveryMs;
}

/** The forks of the repeats that were taken. */
async function forkAll(deps: EvalLookDeps, state: EvalState): Promise<EvalState> {
  if (!state.repeats.some(({ status }) => status === 'forking')) return state;
  const repeats: Repeat[] = [];
  for (const repeat of state.repeats) {
    if (!isForking(repeat)) {
      repeats.push(repeat);
      continue;
    }
    const reason = await deps.fork(state, repeat);
    repeats.push(
      reason === undefined
        ? { ...repeat, status: 'running' }
        : { ...repeat, status: 'done', outcome: 'refused', reason: reason.slice(0, 1000) },
    );
  }
  return { ...state, repeats };
}

const isForking = (repeat: Repeat): repeat is Forking => repeat.status === 'forking' && repeat.run_id !== undefined;

async function readAll({ read }: EvalLookDeps, state: EvalState): Promise<Map<string, Reading>> {
  const underWay = state.repeats.filter(({ status }) => ['running', 'validating', 'canceling'].includes(status));
  const ids = underWay.flatMap(({ run_id }) => run_id ?? []);
  return new Map(await Promise.all(ids.map(async (id) => [id, await read(state, id)] as const)));
}

async function askForks(deps: EvalLookDeps, state: EvalState, readings: ReadonlyMap<string, Reading>): Promise<void> {
  for (const { status, run_id: id } of state.repeats) {
    if (id === undefined) continue;
    if (status === 'canceling') await deps.cancel(state, id);
    if (status === 'validating' && readings.get(id)?.validators === 'none') await deps.validate(state, id);
  }
}
