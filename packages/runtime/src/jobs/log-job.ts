import type { TraceIds } from '@holdpoint/engine';
import { type LogContext, withLogContext } from '@holdpoint/telemetry';
import type { JobKind } from './processor.ts';

type JobData = LogContext & { run_id: string };

/** The same jobs, with the run, step, task or turn in each line of the log. */
export const logged = <Data extends JobData>(kind: JobKind<Data>, traceIds: TraceIds): JobKind<Data> => ({
  ...kind,
  handle(deps, data, context) {
    traceIds.learn(deps.redis, data.run_id);
    return withLogContext(aboutJob(data), () => kind.handle(deps, data, context));
  },
  wakeMissed: (deps, data, seen) => withLogContext(aboutJob(data), () => kind.wakeMissed(deps, data, seen)),
});

const aboutJob = ({ run_id, step_id, task_id, turn }: JobData): LogContext => ({
  run_id,
  ...(step_id !== undefined && { step_id }),
  ...(task_id !== undefined && { task_id }),
  ...(turn !== undefined && { turn }),
});
