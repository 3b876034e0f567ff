import type { WorkerDeps } from '../deps.ts';
import { endIdle, type RunState } from '../domain/index.ts';
import { append, readSpec } from '../log/index.ts';

/** Ends an open run after too long a wait for calls. The waiting run has no job: the sweep finds the run. */
export async function endIfIdle(deps: WorkerDeps, run: RunState): Promise<'settled' | 'again'> {
  const { idle_s } = (await readSpec(deps, run)).limits;
  const since = Date.parse(run.awaits_calls ?? '');
  if (deps.now() - since < idle_s * 1000) return 'settled';
  await append(
    deps,
    run.id,
    endIdle(run, {
      code: 'idle',
      message: `The open run received no calls for ${idle_s} s, which is its limit.`,
      next: 'Retry the run to send it more calls; its files are as they were.',
    }),
  );
  return 'again';
}
