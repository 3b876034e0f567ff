import { runIdSchema } from '@holdpoint/contract';
import { EngineError, type RunState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

/** Ids become parts of keys: an id of another form is not even looked up. @throws EngineError `run_not_found` */
export function checkRunId(id: string): string {
  if (!runIdSchema.safeParse(id).success) throw new EngineError('run_not_found', `there is no run ${id}`);
  return id;
}

/** @throws EngineError `run_not_found` */
export const findRun = (deps: Pick<ApiDeps, 'engine'>, id: string): Promise<RunState> =>
  deps.engine.runs.get(checkRunId(id));
