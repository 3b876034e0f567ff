import type { WorkerDeps } from '../deps.ts';
import { type RunState, recordGraphProgress, type StepState } from '../domain/index.ts';
import { appendForTheRecord } from './record-connections.ts';

const everyMs = 2000;

/** Records the progress of a call that reads files for the code graph. Nothing waits for this record. */
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
