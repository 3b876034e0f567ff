import type { WorkerDeps } from '../deps.ts';
import { type RunState, recordGraphProgress, type StepState } from '../domain/index.ts';
import { appendForTheRecord } from './record-connections.ts';

const everyMs = 2000;

/** Records how far a call is that reads files for the code graph. A record only: nothing waits for it. */
export function reportGraphProgress(
  deps: WorkerDeps,
  run: Pick<RunState, 'id'>,
  { id, attempt }: Pick<StepState, 'id' | 'attempt'>,
): (progress: { files: number; total: number }) => void {
  let next = performance.now() + everyMs;
  return (progress) => {
    if (performance.now() < next) return;
    next = performance.now() + everyMs;
    void appendForTheRecord(deps, run.id, recordGraphProgress(id, attempt, progress));
  };
}
