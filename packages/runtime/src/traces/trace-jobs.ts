import { spanKeys } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';
import type { RunPlaces } from './run-places.ts';

interface JobData {
  run_id: string;
  step_id?: string;
  task_id?: string;
}

/** Does the work of a job, with its live spans below the span of the step, task, publish or run of the job. */
export type InJob = <Result>(queue: string, data: JobData, work: () => Promise<Result>) => Promise<Result>;

export const inJob =
  (live: LiveSpans, places: RunPlaces): InJob =>
  async (queue, data, work) => {
    const { run_id, step_id, task_id } = data;
    const placeOf = await places.of(run_id);
    const key = queue === 'workspaces' ? await places.keyOfPublish(run_id) : (step_id ?? task_id ?? spanKeys.run());
    return live.within(() => placeOf(key), work);
  };
