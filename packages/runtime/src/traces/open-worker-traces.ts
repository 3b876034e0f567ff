import { AsyncLocalStorage } from 'node:async_hooks';
import { attribute, type Connection, genAi, genAiModel, genAiOperation, spanName } from '@holdpoint/contract';
import { type Executor, type Planner, spanKeys, type WorkerDeps, type WorkspacePort } from '@holdpoint/engine/worker';
import type { Model } from '@holdpoint/models';
import type { Command, Sandbox } from '@holdpoint/sandbox';
import type { LiveSpans, Traces } from '@holdpoint/telemetry';
import type { Redis } from 'ioredis';
import { observe, tableOf } from '../observe.ts';
import { openRunPlaces, type RunPlaces } from './run-places.ts';

interface JobData {
  run_id: string;
  step_id?: string;
  task_id?: string;
}

/** Does the work of a job, with its live spans below the span of the step, task, publish or run of the job. */
export type InJob = <Result>(queue: string, data: JobData, work: () => Promise<Result>) => Promise<Result>;

const inJob =
  (live: LiveSpans, places: RunPlaces): InJob =>
  async (queue, data, work) => {
    const { run_id, step_id, task_id } = data;
    const placeOf = await places.of(run_id);
    const key = queue === 'workspaces' ? await places.keyOfPublish(run_id) : (step_id ?? task_id ?? spanKeys.run());
    return live.within(() => placeOf(key), work);
  };

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

/** The same executor: spans of a call are below the span of the attempt, and each connection is a span. */
function traceExecutor(executor: Executor, live: LiveSpans, places: RunPlaces): Executor {
  const withConnections = <Context extends { onConnection(connection: Connection): void }>(
    context: Context,
    place: Parameters<LiveSpans['within']>[0],
  ): Context => ({
    ...context,
    onConnection(connection) {
      live.within(place, () => live.add(spanOfConnection(connection)));
      context.onConnection(connection);
    },
  });
  return observe(executor, {
    execute: (act) => async (call, context) => {
      const { runId, stepId, attempt } = context;
      const placeOf = await places.of(runId);
      const place = () => ({
        ...placeOf(spanKeys.attempt(stepId, attempt)),
        attributes: { [attribute.stepId]: stepId },
      });
      return live.within(place, () => act(call, withConnections(context, place)));
    },
    runTask: (act) => async (spec, context) => {
      const placeOf = await places.of(context.runId);
      const place = () => placeOf(context.taskId);
      return live.within(place, () => act(spec, withConnections(context, place)));
    },
  });
}

function spanOfConnection(connection: Connection) {
  // Without the host: the host is part of the call's request.
  const { port, verdict, reason, bytes_up, bytes_down, duration_ms } = connection;
  const endTime = Date.now();
  return {
    name: `egress ${verdict}`,
    kind: 'client' as const,
    ...{ startTime: endTime - duration_ms, endTime },
    attributes: {
      'server.port': port,
      'holdpoint.network.verdict': verdict,
      'holdpoint.network.bytes_up': bytes_up,
      'holdpoint.network.bytes_down': bytes_down,
    },
    error: verdict === 'allowed' ? undefined : (reason ?? verdict),
  };
}
