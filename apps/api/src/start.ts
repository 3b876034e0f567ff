import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCallers } from '@holdpoint/callers';
import { findRunningRedis } from '@holdpoint/embedded-redis';
import * as engine from '@holdpoint/engine';
import { openAudit } from '@holdpoint/engine/audit';
import { bindInstallation, type Sides, watchInstallation } from '@holdpoint/engine/installation';
import { type Connections, openRedis } from '@holdpoint/engine/redis';
import { watchSpace } from '@holdpoint/engine/space';
import { followServers, followTools, serversFile } from '@holdpoint/mcp';
import type { CatalogTool } from '@holdpoint/policy';
import * as telemetry from '@holdpoint/telemetry';
import { everyToolset, loadToolsets, type Registry } from '@holdpoint/tools';
import { openWorkspaces } from '@holdpoint/workspace';
import type { FastifyBaseLogger } from 'fastify';
import manifest from '../package.json' with { type: 'json' };
import { openKeyFile } from './auth/key-file.ts';
import { type Config, ConfigError } from './config.ts';
import type { App, ServerDeps } from './deps.ts';
import { openEvals } from './evals/open-evals.ts';
import { LiveStreams } from './live/live-streams.ts';
import { Presence } from './live/presence.ts';
import { RunNotifications } from './live/run-notifications.ts';
import { observeDisk } from './metrics/observe-disk.ts';
import { observeRedis } from './metrics/observe-redis.ts';
import { observeRuns } from './metrics/observe-runs.ts';
import { openPulls } from './pull-requests/open-pulls.ts';
import { openPush } from './push/open-push.ts';
import { openVapidKeys } from './push/vapid-keys.ts';
import { followServerChanges } from './record-server-changes.ts';
import { openSchedules } from './schedules/open-schedules.ts';
import { buildServer } from './server.ts';
import { startSignIns } from './sign-in/confirm.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';

export interface RunningApi {
  app: App;
  /** For example `http://127.0.0.1:4747`. */
  address: string;
  /** Refuses new requests, ends streams, answers open requests, and closes the connections to Redis. Cuts off clients too slow to read. */
  close(): Promise<void>;
}

export interface Pace
  extends Partial<
    Pick<ServerDeps, 'consoleDir' | 'heartbeatMs' | 'publicationWaitMs' | 'mostConnections' | 'requestMs' | 'now'>
  > {
  /** Milliseconds for clients to read the rest of their answers when the server closes. @default 5000 */
  closeGraceMs?: number;
  /** Milliseconds between two looks for schedules whose wake-up was lost. @default 15000 */
  sweepMs?: number;
  /** Called when Redis no longer has the data of this installation. @default ends the process */
  onLost?: (error: Error) => void;
  /** For lines of the log. */
  traceIds?: engine.TraceIds;
  /** Counts dropped lines of the log. */
  logDrops?: telemetry.LogDrops;
  /** Sends the telemetry. Its settings include the settings of traces and metrics. @default a thread of its own */
  thread?: telemetry.TelemetryThread;
}

const consoleDir = fileURLToPath(new URL('../../console/dist', import.meta.url));

/** Opens everything an API process works with, and listens. */
export async function startApi(
  config: Config,
  logger: FastifyBaseLogger,
  {
    closeGraceMs = 5000,
    sweepMs = 15_000,
    onLost = () => process.exit(1),
    traceIds = new engine.TraceIds(),
    logDrops,
    thread: given,
    ...pace
  }: Pace = {},
): Promise<RunningApi> {
  const { catalog, modules, mcpServers } = await openCatalog(config, logger);
  const tools = toolsOf(catalog);
  checkPolicyFile(config, tools);
  const connections = await openRedis({ address: await findRunningRedis(config) }, logger);
  const { installation, firstKey } = await openData({ redis: connections.state, dataDir: config.dataDir }, connections);
  await mcpServers.pin();
  const space = await watchSpace({ dataDir: config.dataDir, limits: config.space }, logger);
  const clock = await engine.openSharedClock(connections.state);
  const { now } = clock;
  const newId = engine.newIdBy(now);
  const operator = await engine.openOperatorPolicy(
    { redis: connections.state, logger },
    { file: config.policyFile, tools },
  );
  const service = { name: 'holdpoint-api', version: manifest.version };
  const thread =
    given ?? telemetry.openTelemetryThread({ service, traces: config.traces, metrics: config.metrics?.otlp });
  thread.logTo(logger);
  const metrics = await telemetry.startMetrics(service, config.metrics ?? {}, { thread });
  const onDropped = (spans: number, reason: string): void =>
    metrics.count('dropped', { signal: 'spans', reason }, spans);
  const traces = await telemetry.startTraces({ thread, service, logger, onDropped }, config.traces);
  const queues = engine.openQueues(connections.state, now, traces?.queues);
  const closing = new AbortController();
  const deps: engine.EngineDeps = {
    redis: connections.state,
    queues,
    blobs: engine.openBlobStore(join(config.dataDir, 'blobs')),
    logger,
    newId,
    now,
    catalog,
    operatorPolicy: operator.current,
    ceilings: config.ceilings,
    activeRuns: config.callerLimits.activeRuns,
  };
  const open = engine.openEngine(deps);
  const callers = await openCallers({
    ...{ redis: connections.state, now, newId: () => newId('key'), firstKey },
    limits: config.callerLimits,
  });
  const notifications = new RunNotifications(connections.subscriber, now);
  const push = await openPush(
    {
      ...{ redis: connections.state, openEngine: open, callers, notifications, logger, now },
      ...{ secrets: config.secrets, closing: closing.signal },
    },
    {
      vapid: await openVapidKeys(config.dataDir),
      contact: config.pushContact,
      allowAddresses: config.allowAddresses,
      connect: connections.worker,
    },
  );
  const audit = openAudit({ redis: connections.state, dataDir: config.dataDir });
  const signIns = await startSignIns(config, { callers, audit, logger, now, sweepMs });
  const serverChanges = followServerChanges({ audit, mcpServers, logger });
  const schedules = openSchedules({
    ...{ redis: connections.state, now, newId, logger, connect: connections.worker, sweepMs },
  });
  const evals = openEvals({
    ...{ redis: connections.state, now, newId, logger, connect: connections.worker, sweepMs },
  });
  const webhooks = openWebhooks({
    ...{ redis: connections.state, subscriber: connections.subscriber, logger, metrics, audit, sweepMs },
    now: pace.now ?? now,
    ...{ secrets: config.secrets, allowAddresses: config.allowAddresses, publicUrl: config.publicUrl },
    connect: connections.worker,
  });
  const pulls = openPulls({ redis: connections.state, now });
  const serverDeps: ServerDeps = {
    openEngine: open,
    callers,
    push,
    schedules,
    evals,
    webhooks,
    pulls,
    githubWebhook: config.githubWebhook,
    audit,
    ...deps,
    logger,
    catalog,
    outputs: engine.openOutputStore(join(config.dataDir, 'outputs')),
    operator,
    bounds: () => ({
      ...operator.status(),
      source_roots: [...(config.roots?.sourceRoots ?? [])],
      publish_roots: [...(config.roots?.publishRoots ?? [])],
      git_hosts: [...(config.roots?.gitHosts ?? ['*'])],
      tool_modules: modules(),
    }),
    mcpServers,
    workspaces: openWorkspaces({
      ...{ dataDir: config.dataDir, logger, allocateOwner: onlyWorkers, roots: config.roots },
    }),
    models: config.models,
    allowAddresses: config.allowAddresses,
    space,
    traces,
    secrets: config.secrets,
    metrics,
    metricsAccess: accessTo(config),
    traceIds,
    notifications,
    live: new LiveStreams({ redis: connections.state, subscriber: connections.subscriber, now: Date.now }),
    presence: new Presence({ redis: connections.state, subscriber: connections.subscriber, now: Date.now }),
    consoleDir,
    host: config.host,
    hostNames: config.hostNames,
    passkeyDomain: config.passkeyDomain,
    closing: closing.signal,
    heartbeatMs: 15_000,
    publicationWaitMs: 30_000,
    mostConnections: 1000,
    requestMs: 30_000,
    ...pace,
  };
  const app = await buildServer({ ...serverDeps, signIn: signIns?.signIn });
  schedules.start(serverDeps);
  evals.start(serverDeps);
  webhooks.start();
  const watch = watchInstallation({ redis: connections.state, dataDir: config.dataDir, id: installation }, (error) => {
    logger.fatal({ err: error }, 'Redis has the data of another installation: the API ends');
    onLost(error);
  });
  const loop = telemetry.watchLoop({
    onLate: (delay) => logger.warn({ event: 'loop_late', ...delay }, 'the event loop of this API was held up'),
  });
  logDrops?.reportTo(metrics);
  const level = await engine.watchLogLevel({ subscriber: connections.subscriber, logger, is: 'api' });
  telemetry.observeProcess(metrics, { loop });
  observeRuns(metrics, { ...deps, logger, openEngine: open });
  observeRedis(metrics, deps);
  observeDisk(metrics, { dataDir: config.dataDir, limits: config.space, signal: closing.signal });
  const close = async (): Promise<void> => {
    watch.stop();
    level.stop();
    operator.stop();
    await serverChanges.stop();
    await signIns?.stop();
    loop.stop();
    closing.abort();
    space.stop();
    const deadline = setTimeout(() => app.server.closeAllConnections(), closeGraceMs);
    await app.close();
    clearTimeout(deadline);
    await push.stop();
    await schedules.stop();
    await evals.stop();
    await webhooks.stop();
    await pulls.close();
    await queues.close();
    clock.stop();
    await connections.close();
    await Promise.all([traces?.stop(), metrics.stop()]);
    if (given === undefined) await thread.stop();
  };
  try {
    const address = await app.listen({ host: config.host, port: config.port });
    return { app, address, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function accessTo({ metrics }: Config): ServerDeps['metricsAccess'] {
  if (metrics?.scraped === undefined) return 'off';
  return metrics.scraped.isOpen ? 'open' : 'key';
}

/** @throws ConfigError when a module of the operator or the file of MCP servers cannot be used */
async function openCatalog(
  { toolModules = [], mcpServers, dataDir, projectDir = '/' }: Config,
  log: FastifyBaseLogger,
) {
  try {
    const store = followServers(mcpServers ?? serversFile(dataDir, {}), dataDir);
    const { registry, modules } = followTools(await loadToolsets(toolModules, projectDir, everyToolset), store, {
      log,
    });
    return { catalog: registry, modules, mcpServers: store };
  } catch (cause) {
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

const toolsOf = (catalog: Registry): CatalogTool[] =>
  catalog.toolsets().flatMap((toolset) => catalog.list(toolset).map((tool) => ({ ...tool, toolset })));

/** Finds an unusable policy before the API opens anything. @throws ConfigError */
function checkPolicyFile({ policyFile }: Config, tools: readonly CatalogTool[]): void {
  if (policyFile === undefined) return;
  try {
    engine.readPolicyFile(policyFile, tools);
  } catch (cause) {
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Opens the key last: a refused data directory stays unchanged. */
async function openData(sides: Sides, connections: Connections): Promise<{ installation: string; firstKey: string }> {
  try {
    const installation = await bindInstallation(sides);
    return { installation, firstKey: await openKeyFile(sides.dataDir) };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

/** The API only reads workspaces; workers create trees. */
const onlyWorkers = (): never => {
  throw new Error('the API creates no workspaces');
};
