import { AsyncLocalStorage } from 'node:async_hooks';
import { attribute, genAi, genAiModel, genAiOperation, spanName } from '@holdpoint/contract';
import { type Planner, spanKeys, type WorkerDeps, type WorkspacePort } from '@holdpoint/engine/worker';
import type { Model } from '@holdpoint/models';
import type { Command, Sandbox } from '@holdpoint/sandbox';
import type { LiveSpans, Traces } from '@holdpoint/telemetry';
import type { Redis } from 'ioredis';
import { observe, tableOf } from '../observe.ts';
import { openRunPlaces, type RunPlaces } from './run-places.ts';
import { traceExecutor } from './trace-executor.ts';
import { type InJob, inJob } from './trace-jobs.ts';

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

/** Set while a planner works. The log makes the `chat` span of each of its requests. */
const planning = new AsyncLocalStorage<true>();

/**
 * The same model: each request to the provider is a span. A request of a planner has its `chat` span from the log, so the live span has neither
 * operation nor tokens: each request counts once. A request of a tool has this span alone.
 */
const traceModel = (model: Model, live: LiveSpans): Model =>
  observe(model, {
    generate: (act) => (request) => {
      const { provider, model: name } = genAiModel(request.model);
      const isOfTool = planning.getStore() === undefined;
      const attributes = {
        ...(isOfTool && { [genAi.operation]: genAiOperation.chat }),
        [genAi.provider]: provider,
        [genAi.requestModel]: name,
      };
      return live.during({ name: 'model request', kind: 'client', attributes }, async (set) => {
        const answer = await act(request);
        const { input_tokens, output_tokens } = answer.usage;
        const tokens = { [genAi.inputTokens]: input_tokens, [genAi.outputTokens]: output_tokens };
        set({ [genAi.finishReasons]: [answer.finish], ...(isOfTool && tokens) });
        return answer;
      });
    },
  });

/** The same planner: its requests to a model are below the span of the run, because a failed turn has no span. */
const tracePlanner = (planner: Planner, live: LiveSpans, places: RunPlaces): Planner =>
  observe(planner, {
    next: (act) => async (input, signal) => {
      const placeOf = await places.of(input.runId);
      const place = () => ({ ...placeOf(spanKeys.run()), attributes: { [attribute.turn]: input.turn } });
      return planning.run(true, () => live.within(place, () => act(input, signal)));
    },
  });

/** The same sandbox: each command has a span for its set-up, and a span for its running time. */
const traceSandbox = (sandbox: Sandbox, live: LiveSpans): Sandbox =>
  observe(sandbox, { run: (act) => (command) => run({ act, driver: sandbox.capabilities.driver, live }, command) });

async function run(
  { act, driver: name, live }: { act: Sandbox['run']; driver: string; live: LiveSpans },
  command: Command,
): ReturnType<Sandbox['run']> {
  const startTime = Date.now();
  let begunAt: number | undefined;
  const driver = { 'holdpoint.isolation.driver': name };
  const onBegun = (): void => {
    begunAt = Date.now();
    command.onBegun?.();
  };
  const add = (error?: string): void => {
    const endTime = Date.now();
    live.add({
      name: 'sandbox setup',
      startTime,
      endTime: begunAt ?? endTime,
      attributes: driver,
      error: begunAt ? undefined : error,
    });
    if (begunAt !== undefined)
      live.add({ name: 'sandbox command', startTime: begunAt, endTime, attributes: driver, error });
  };
  try {
    const result = await act({ ...command, onBegun });
    add(result.end.status === 'exited' ? undefined : result.end.status);
    return result;
  } catch (error) {
    add(error instanceof Error && 'code' in error ? String(error.code) : 'error');
    throw error;
  }
}

/** Operations with much time on the disk and without a span from the log. */
const operations = {
  snapshot: spanName.workspace('snapshot'),
  differenceFrom: spanName.workspace('compare'),
  restore: spanName.workspace('restore'),
  planPublish: 'publish plan',
  publish: 'publish write',
} as const satisfies Partial<Record<keyof WorkspacePort, string>>;

/** The same port: these operations are spans, below the span of their job. */
const traceWorkspaces = (port: WorkspacePort, live: LiveSpans): WorkspacePort =>
  observe(
    port,
    tableOf<WorkspacePort, string>(operations, (act, name, method) => (...input) => {
      return live.during({ name, attributes: { [attribute.workspaceAction]: method } }, () => act(...input));
    }),
  );
