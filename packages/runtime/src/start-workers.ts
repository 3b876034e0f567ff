import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { openGraphs } from '@holdpoint/code-graph';
import { isTerminal } from '@holdpoint/contract';
import { findBrowser, openDocuments, openPageBrowser } from '@holdpoint/documents';
import * as engine from '@holdpoint/engine';
import { bindInstallation, confirmInstallation } from '@holdpoint/engine/installation';
import { openRedis, type RedisAddress } from '@holdpoint/engine/redis';
import { watchSpace } from '@holdpoint/engine/space';
import { openAdmission, type Planner, readPlannerInput, readRun, scriptedPlanner } from '@holdpoint/engine/worker';
import { openLanguageServers } from '@holdpoint/language-servers';
import { followServers, followTools, isInForce } from '@holdpoint/mcp';
import { describeModel, providerAccountOf } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';
import type { CatalogTool } from '@holdpoint/policy';
import { openSandbox } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import { type LogDrops, startTraces, type TelemetryThread, watchLoop } from '@holdpoint/telemetry';
import { createToolsets, httpGraph, loadToolsets, openSearch, openTextThreads } from '@holdpoint/tools';
import { openWorkspaces } from '@holdpoint/workspace';
import { defaultTrees, whyCopies } from '@holdpoint/workspace/trees';
import type { Logger } from 'pino';
import { createExecutor } from './adapters/executor.ts';
import { hostLimits, ownerAllocator } from './adapters/host.ts';
import { KeptPrograms } from './adapters/kept-programs.ts';
import { modelFetch } from './adapters/model-fetch.ts';
import { readRemoteFiles } from './adapters/remote-files.ts';
import { openRemoteGit } from './adapters/remote-git.ts';
import { openOAuthHost } from './adapters/run-network.ts';
import { createWorkspacePort } from './adapters/workspace-port.ts';
import { openAgentKinds } from './agents/find-kinds.ts';
import { answerLook } from './answer-looks.ts';
import { openFollower } from './following/open-follower.ts';
import { startHeartbeat } from './heartbeat.ts';
import { startQueueWorkers } from './jobs/queue-workers.ts';
import { watchCancels } from './jobs/watch-cancels.ts';
import { openLiveHub } from './live/live-hub.ts';
import { meterExecutor } from './metrics/meter-executor.ts';
import { meterModel } from './metrics/meter-model.ts';
import { meterSandbox } from './metrics/meter-sandbox.ts';
import { meterWorkspaces } from './metrics/meter-workspaces.ts';
import { observeWorker } from './metrics/observe-worker.ts';
import { openWorkerMetrics } from './metrics/open-worker-metrics.ts';
import { openModelGate } from './model-gate/model-gate.ts';
import { createModelPlanner } from './model-planner/model.ts';
import { redactPlanner } from './model-planner/redact-planner.ts';
import { createAgentPlanner } from './outside-planner/agent-planner.ts';
import { makeOwnCall } from './outside-planner/own-calls.ts';
import { RunningAgents } from './outside-planner/running-agents.ts';
import { openLooks } from './pull-requests/open-looks.ts';
import { openPullRequests } from './pull-requests/open-pull-requests.ts';
import { reportLate } from './report-late.ts';
import { ConfigError, type RuntimeConfig } from './runtime-config.ts';
import { openToolchains } from './toolchains/project-toolchains.ts';
import { openWorkerTraces } from './traces/open-worker-traces.ts';
import { watchRedis } from './watch-redis.ts';

/**
 * A worker waits longer for Redis than an API request: a worker records events after they happened. Redis may still run a command after its
 * timeout, and then a step has an attempt no worker made. The limit is for dead connections without an error.
 */
const commandMs = 60_000;
/** Idle tool hosts and parsers per slot: a run finds its own again at its next turn, and memory does not grow with the number of runs. */
const idlePerSlot = 4;

export interface WorkerProcess {
  logger: Logger;
  secrets: Secrets;
  /** Names this process in events, among the workers and in telemetry. */
  workerId: string;
  /** For lines of the log. */
  traceIds: engine.TraceIds;
  /** Counts dropped lines of the log. */
  logDrops: LogDrops;
  /** Ends this process after its jobs, with an exit code other than 0: a supervisor starts another one. */
  replace: (why: string) => void;
  /** Sends the telemetry. Its settings include the settings of traces and metrics. */
  thread: TelemetryThread;
}

/** Starts the workers of this process on the Redis at `address`. Resolves to a function to drain and end the workers. */
export async function startWorkers(
  config: RuntimeConfig,
  address: RedisAddress,
  { logger, secrets, workerId, traceIds, logDrops, thread, replace }: WorkerProcess,
): Promise<() => Promise<void>> {
  const tools = await openTools(config, secrets, logger);
  checkPolicyFile(config, tools.list);
  thread.logTo(logger);
  const service = { name: 'holdpoint-worker', version: config.version, instance: workerId };
  const { metrics, served } = await openWorkerMetrics(service, config.metrics, thread);
  const connections = await openRedis({ address, commandMs }, logger);
  const installation = await bindInstallation({ redis: connections.state, dataDir: config.dataDir });
  await tools.store.pin();
  const onDropped = (spans: number, reason: string): void =>
    metrics.count('dropped', { signal: 'spans', reason }, spans);
  const traces = await startTraces({ thread, service, logger, onDropped }, config.traces);
  const clock = await engine.openSharedClock(connections.state);
  const { now } = clock;
  const queues = engine.openQueues(connections.state, now, traces?.queues);
  let checkSpace = (): void => {};
  const traced = openWorkerTraces(connections.state, traces);
  const opened = await openSandbox({
    policy: config.sandboxPolicy,
    allowUnsandboxed: config.allowUnsandboxed,
    stateDir: join(config.dataDir, 'sandbox'),
    unpackedBwrap: join(config.projectDir, '.cache/bubblewrap'),
    path: config.path,
    toolchains: config.toolchains,
    freeBytes: config.space.floor,
    onLowSpace: () => checkSpace(),
    idleProcesses: idlePerSlot * config.steps,
    limits: hostLimits(config.ceilings),
    logger,
  });
  const sandbox = traced.sandbox(opened);
  const remoteFiles = readRemoteFiles(config.remotes);
  const workspaces = openWorkspaces({
    dataDir: config.dataDir,
    allocateOwner: ownerAllocator(connections.state, config.uidBase),
    layers: config.layers,
    preparedInputs: config.preparedInputs,
    limits: {
      sourceBytes: config.sourceBytes,
      preparedBytes: config.preparedBytes,
      poolBytes: config.poolBytes,
      freeBytes: config.space.floor,
    },
    roots: config.roots,
    remoteGit: openRemoteGit({
      ...{ sandbox, secrets, logger, allowAddresses: config.allowAddresses, maxBytes: config.sourceBytes },
      ...remoteFiles,
    }),
    bootId: config.bootId,
    logger,
  });
  await workspaces.removeAbandonedBuilds();
  const copies = await whyCopies({ setting: config.layers ?? defaultTrees, dataDir: config.dataDir });
  logger.info({ trees: copies === undefined ? 'layers' : 'copies', why: copies }, 'trees of runs');
  const texts = openTextThreads();
  const graphs = openGraphs({ sandbox, snapshots: workspaces });
  const documents = openDocuments({ sandbox });
  const found = browserOf(config);
  const browser = found && openPageBrowser(sandbox, found);
  const languageServers = openLanguageServers({ sandbox, most: config.languageServers });
  const { registry } = tools;
  const operator = await engine.openOperatorPolicy(
    { redis: connections.state, logger },
    { file: config.policyFile, tools: tools.list },
  );
  const prices = config.models.known ?? {};
  const model = meterModel(
    traced.model(openModels({ settings: config.models, fetch: modelFetch(texts) })),
    metrics,
    namedModels(config),
  );
  const gate = openModelGate({
    ...{ redis: connections.state, rates: config.rates, logger },
    wake: ({ runId, turn }) => queues.releaseTurn(runId, turn),
  });
  const accountOf = (name: string) => providerAccountOf(name, config.models);
  const asking = { gate, accountOf, now, random: Math.random };
  const admission = openAdmission({
    ...{ redis: connections.state, workerId, places: { working: config.runs, asking: config.turns } },
    wake: ({ runId, turn }) => queues.releaseTurn(runId, turn),
  });
  const live = await openLiveHub({
    workerId,
    redis: connections.state,
    subscriber: connections.subscriber,
    now,
    logger,
  });
  const isAtRest = async (runId: string): Promise<boolean> => {
    const run = await readRun(connections.state, runId);
    return run === undefined || run.status === 'paused' || isTerminal(run.status);
  };
  const outsideAgents = new RunningAgents({ ...(config.outsideAgents ?? { most: 8, idleMs: 120_000 }), isAtRest });
  const keptPrograms = new KeptPrograms({
    ...(config.mcpPrograms ?? { most: 8, idleMs: 120_000 }),
    ...{ sandbox, isAtRest, isCurrent: (program) => isInForce(tools.store, program) },
  });
  const trees = createWorkspacePort(workspaces, sandbox, secrets);
  const agentDeps = {
    ...{ registry, sandbox, workspaces, trees, secrets, prices, live, asking, agents: outsideAgents },
    ...{ settings: config.models, fetch: modelFetch(texts), dataDir: config.dataDir, version: config.version },
  };
  const agentKinds = openAgentKinds({ workspaces, registry, operator: config.agentKinds, logger });
  const looks = openLooks({
    ...{ redis: connections.state, connect: connections.worker, now, logger, sweepMs: config.sweepMs },
  });
  const deps = traced.deps({
    workerId,
    redis: connections.state,
    queues,
    blobs: engine.openBlobStore(join(config.dataDir, 'blobs')),
    logger,
    newId: engine.newIdBy(now),
    now,
    catalog: registry,
    executor: meterExecutor(
      createExecutor({
        ...{ registry, workspaces, texts, graphs, languageServers, documents, browser, keptPrograms },
        ...{ secrets, now, logger },
        resultBytes: config.resultBytes,
        toolchains: openToolchains(sandbox, workspaces),
        sandbox: meterSandbox(sandbox, metrics),
        allowAddresses: config.allowAddresses,
        models: { model, prices, gate, accountOf },
        live,
        byAgent: (step) => makeOwnCall(agentDeps, (runId) => readPlannerInput(deps, runId), step),
      }),
      metrics,
    ),
    outputs: engine.openOutputStore(join(config.dataDir, 'outputs')),
    metrics: { repaired: (what) => metrics.count('repairs', { class: what }) },
    operatorPolicy: operator.current,
    admission,
    workspaces: meterWorkspaces(trees, metrics),
    pullRequests: openPullRequests({
      ...{ secrets, logger, allowAddresses: config.allowAddresses, authorities: remoteFiles.authorities },
      ...{ gitHosts: config.roots.gitHosts, consoleUrl: config.consoleUrl },
    }),
    wakePull: looks.wake,
    planners: {
      scripted: redactPlanner(scriptedPlanner, secrets),
      model: withOutsideAgents(
        createAgentPlanner(agentDeps),
        createModelPlanner({
          ...{ model, registry, secrets, workspaces, graphs, now, live, texts, asking, prices },
          describe: (name) => describeModel(name, prices),
          operatorText: config.instructions,
          agentKinds,
        }),
      ),
    },
    agentKinds,
    defaultModel: config.models.defaultModel,
    retention: config.retention,
    ceilings: config.ceilings,
    walls: sandbox.walls,
    confirmInstallation: () => confirmInstallation(connections.state, installation),
  });
  const redact = (text: string, tenant: string): string => secrets.redactor(tenant).text(text);
  const workers = await startQueueWorkers({
    redact,
    onStalled: (queue) => metrics.count('stalled', { queue }),
    onStuck: (queue) => metrics.count('stuckHandlers', { queue }),
    onUnusable: (queue, stuck) => replace(`${stuck} jobs of the queue ${queue} were aborted and have not ended`),
    onLosses: (runs) => metrics.count('auditLosses', {}, runs),
    ...{ deps, config, connections, traceIds, inJob: traced.inJob, queueTelemetry: traces?.queues },
    openFollower: openFollower({
      ...{ thread, address, deps, traces, metrics },
      known: { tools: namesOf(tools.list), models: namedModels(config) },
      redactContent: config.traces?.content === true ? redact : undefined,
    }),
  });
  const space = await watchSpace(
    { dataDir: config.dataDir, limits: config.space, onLow: workers.hold, onEnough: workers.release },
    logger,
  );
  checkSpace = () => void space.check();
  looks.start(deps);
  const cancels = await watchCancels(deps, { subscriber: connections.subscriber, workers });
  const loop = watchLoop({ onLate: reportLate(logger, workers) });
  logDrops.reportTo(metrics);
  const level = await engine.watchLogLevel({ subscriber: connections.subscriber, logger, is: 'workers' });
  const answering = await engine.answerQuestions(
    { redis: connections.state, subscriber: connections.subscriber, logger },
    {
      mcp_look: answerLook({
        ...{ redis: connections.state, store: tools.store, sandbox, secrets },
        ...{ allowAddresses: config.allowAddresses, dataDir: config.dataDir },
      }),
    },
  );
  observeWorker(metrics, { workers, loop, sandbox });
  const heartbeat = await startHeartbeat(deps, {
    host: config.host,
    version: config.version,
    concurrency: config.steps,
    slots: { steps: config.steps, tasks: config.tasks, turns: config.turns, runs: config.runs },
    capabilities: sandbox.capabilities,
    bounds: () => ({
      ...operator.status(),
      source_roots: [...(config.roots.sourceRoots ?? [])],
      publish_roots: [...(config.roots.publishRoots ?? [])],
      git_hosts: [...(config.roots.gitHosts ?? ['*'])],
      tool_modules: tools.modules(),
    }),
    retention: { days: config.retention.days ?? null, runs: config.retention.runs ?? null },
    ceilings: config.ceilings,
    metrics: served?.address ?? null,
    workers,
    loop,
  });
  const watch = watchRedis(deps, {
    ...{ dataDir: config.dataDir, installation },
    onLost: (error) => {
      logger.fatal({ err: error }, 'this worker ends');
      process.exit(1);
    },
  });
  logger.info({ event: 'ready', worker: deps.workerId, steps: config.steps, metrics: served?.address }, 'worker ready');
  // Flush now: the process may be killed later. No-op without NODE_COMPILE_CACHE.
  flushCompileCache();

  return async () => {
    logger.info({ active: [...workers.active()] }, 'worker draining');
    await looks.stop();
    await workers.drain(config.drainMs);
    space.stop();
    cancels.stop();
    answering.stop();
    live.stop();
    level.stop();
    await watch.stop();
    operator.stop();
    await heartbeat.stop();
    loop.stop();
    await texts.close();
    await graphs.close();
    await outsideAgents.close();
    await keptPrograms.close();
    await languageServers.close();
    await documents.close();
    await sandbox[Symbol.asyncDispose]();
    await queues.close();
    clock.stop();
    await connections.close();
    await served?.close();
    await Promise.all([traces?.stop(), metrics.stop()]);
    logger.info('worker ended; nothing is lost');
  };
}

/** A run names an outside agent, or Holdpoint's own loop asks its model. */
const withOutsideAgents = (outside: Planner, own: Planner): Planner => ({
  next(input, signal) {
    const { goal } = input.spec;
    return (goal.planner === 'model' && goal.outside_agent !== undefined ? outside : own).next(input, signal);
  },
});

const namesOf = (tools: readonly CatalogTool[]): string[] => tools.map(({ name }) => name);

/** Models named by the operator. */
const namedModels = ({ models }: RuntimeConfig): string[] => [
  ...Object.keys(models.known ?? {}).filter((name) => !name.includes('*')),
  ...(models.defaultModel === undefined ? [] : [models.defaultModel]),
];

const browserOf = ({ chromium, path, projectDir }: RuntimeConfig) => findBrowser({ named: chromium, path, projectDir });

/** The tools of this process, and their list for checks of policies. @throws ConfigError when a module cannot be used */
async function openTools(config: RuntimeConfig, secrets: Secrets, log: Logger) {
  const { search, graphEndpoint, toolModules, mcpServers, projectDir, dataDir, allowAddresses } = config;
  const known = createToolsets({
    search: checkedSearch(search),
    graph: graphEndpoint === undefined ? undefined : httpGraph({ endpoint: graphEndpoint }),
    browser: browserOf(config) !== undefined,
  });
  try {
    const store = followServers(mcpServers, dataDir);
    const oauth = openOAuthHost({ secrets, allowAddresses });
    const loaded = await loadToolsets(toolModules, projectDir, known);
    const { registry, modules } = followTools(loaded, store, { log, oauth });
    const list = registry.toolsets().flatMap((toolset) => registry.list(toolset).map((tool) => ({ ...tool, toolset })));
    return { registry, list, modules, store };
  } catch (cause) {
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** @throws ConfigError */
function checkedSearch(settings: RuntimeConfig['search']) {
  try {
    return openSearch(settings);
  } catch (cause) {
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Finds an unusable policy before the worker opens anything. @throws ConfigError */
function checkPolicyFile({ policyFile }: RuntimeConfig, tools: readonly CatalogTool[]): void {
  if (policyFile === undefined) return;
  try {
    engine.readPolicyFile(policyFile, tools);
  } catch (cause) {
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
