import { spanKeys } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';
import type { RunPlaces } from './run-places.ts';

interface JobData {
  run_id: string;
  step_id?: string;
  task_id?: string;
}

/** Does the work of a job so that its live spans are below the step, the task, the publish or the run that it is about. */
export type InJob = <Result>(queue: string, data: JobData, work: () => Promise<Result>) => Promise<Result>;

export const inJob =
  (live: LiveSpans, places: RunPlaces): InJob =>
  async (queue, data, work) => {
    const key = data.step_id ?? data.task_id ?? spanKeys.run();
    const place = await (queue === 'workspaces' ? places.ofPublish(data.run_id) : places.at(data.run_id, key));
    return live.within(place, work);
  };
