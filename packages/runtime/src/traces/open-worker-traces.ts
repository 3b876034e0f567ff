import type { WorkerDeps } from '@holdpoint/engine/worker';
import type { Model } from '@holdpoint/models';
import type { Sandbox } from '@holdpoint/sandbox';
import type { Traces } from '@holdpoint/telemetry';
import type { Redis } from 'ioredis';
import { openRunPlaces } from './run-places.ts';
import { traceExecutor } from './trace-executor.ts';
import { type InJob, inJob } from './trace-jobs.ts';
import { traceModel, tracePlanner } from './trace-model.ts';
import { traceSandbox } from './trace-sandbox.ts';
import { traceWorkspaces } from './trace-workspaces.ts';

/** Puts live spans around the parts of a worker. */
interface WorkerTraces {
  sandbox(sandbox: Sandbox): Sandbox;
  model(model: Model): Model;
  deps(deps: WorkerDeps): WorkerDeps;
  inJob?: InJob;
}

/** @param traces undefined: the parts stay as they are */
export function openWorkerTraces(redis: Redis, traces: Traces | undefined): WorkerTraces {
  if (traces === undefined) return { sandbox: (one) => one, model: (one) => one, deps: (one) => one };
  const { live } = traces;
  const places = openRunPlaces(redis);
  return {
    sandbox: (sandbox) => traceSandbox(sandbox, live),
    model: (model) => traceModel(model, live),
    deps: (deps) => ({
      ...deps,
      executor: traceExecutor(deps.executor, live, places),
      workspaces: traceWorkspaces(deps.workspaces, live),
      planners: { ...deps.planners, model: tracePlanner(deps.planners.model, live, places) },
    }),
    inJob: inJob(live, places),
  };
}
