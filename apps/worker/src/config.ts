import { hostname, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ceilingsFrom, defaultWorkerSteps, policyFileFrom } from '@holdpoint/engine';
import { spaceLimitsFrom } from '@holdpoint/engine/space';
import { serversFile } from '@holdpoint/mcp';
import { modelSettingsFrom } from '@holdpoint/models';
import { ConfigError, providerRatesSchema, type RuntimeConfig, remoteFilesFrom } from '@holdpoint/runtime';
import { operatorKindsFrom, operatorTextFrom, resultBytesFrom } from '@holdpoint/runtime/operator';
import { type LogExportSettings, logExportFrom, metricsSettingsFrom, traceSettingsFrom } from '@holdpoint/telemetry';
import { searchProviders, toolModulesFrom } from '@holdpoint/tools';
import { namedInputs, rootsFrom } from '@holdpoint/workspace';
import { defaultTrees, treesSettings } from '@holdpoint/workspace/trees';
import { z } from 'zod';
import manifest from '../package.json' with { type: 'json' };

const projectDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

const integer = (min: number, max: number, otherwise: number) =>
  z.coerce.number().int().min(min).max(max).default(otherwise);

/** JSON: `{"provider": {"per_minute": 50, "at_once": 8}}`, of all workers together. */
const rates = z
  .string()
  .default('{}')
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'expected JSON' });
      return z.NEVER;
    }
  })
  .pipe(providerRatesSchema);

/** Globs with commas in between; `manifests` stands for the well-known manifests and lock files. */
const preparedInputs = z
  .string()
  .optional()
  .transform((text, context) => {
    const globs = text?.split(',').flatMap((glob) => (glob.trim() === '' ? [] : [glob.trim()])) ?? [];
    try {
      return globs.length === 0 ? undefined : namedInputs(globs);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });

const environmentSchema = z.object({
  HOLDPOINT_DATA: z.string().min(1).default(join(projectDir, '.holdpoint')),
  REDIS_URL: z.string().optional(),
  HOLDPOINT_LOG: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  HOLDPOINT_WORKER_STEPS: integer(1, 1000, defaultWorkerSteps()),
  HOLDPOINT_WORKER_RUNS: z.coerce.number().int().min(1).max(10_000).optional(),
  HOLDPOINT_WORKER_TURNS: integer(1, 1000, 16),
  HOLDPOINT_WORKER_TASKS: integer(1, 1000, 16),
  HOLDPOINT_MODEL_RATE: rates,
  HOLDPOINT_LOCK_MS: integer(1000, 600_000, 13_000),
  HOLDPOINT_STALLED_MS: integer(500, 600_000, 5000),
  HOLDPOINT_SWEEP_MS: integer(250, 600_000, 5000),
  HOLDPOINT_DRAIN_MS: integer(0, 3_600_000, 10_000),
  HOLDPOINT_MAINTENANCE_MS: integer(1000, 7 * 86_400_000, 6 * 3_600_000),
  HOLDPOINT_SOURCE_BYTES: integer(1_000_000, 10 ** 15, 10 * 1024 ** 3),
  HOLDPOINT_LAYERS: z.enum(treesSettings).default(defaultTrees),
  HOLDPOINT_LANGUAGE_SERVERS: integer(0, 1000, 4),
  HOLDPOINT_CHROMIUM: z.string().min(1).optional(),
  HOLDPOINT_OUTSIDE_AGENTS: integer(0, 1000, 8),
  HOLDPOINT_OUTSIDE_AGENT_IDLE_MS: integer(0, 86_400_000, 120_000),
  HOLDPOINT_MCP_PROGRAMS: integer(0, 1000, 8),
  HOLDPOINT_MCP_PROGRAM_IDLE_MS: integer(0, 86_400_000, 120_000),
  HOLDPOINT_PREPARED_INPUTS: preparedInputs,
  HOLDPOINT_PREPARED_BYTES: integer(0, 10 ** 15, 5 * 1024 ** 3),
  HOLDPOINT_POOL_BYTES: integer(0, 10 ** 15, 5 * 1024 ** 3),
  HOLDPOINT_RETAIN_DAYS: z.coerce.number().min(0).optional(),
  HOLDPOINT_RETAIN_RUNS: z.coerce.number().int().min(0).optional(),
  HOLDPOINT_SANDBOX: z.enum(['require', 'best-effort']).default('require'),
  HOLDPOINT_ALLOW_UNSANDBOXED: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
  HOLDPOINT_TOOLCHAINS: z.string().default(''),
  HOLDPOINT_ALLOW_ADDRESSES: z.string().default(''),
  HOLDPOINT_WEB_SEARCH: z.enum(searchProviders).default('duckduckgo'),
  HOLDPOINT_WEB_SEARCH_KEY: z.string().optional(),
  HOLDPOINT_SEARCH_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  HOLDPOINT_GRAPH_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  HOLDPOINT_SANDBOX_UID_BASE: integer(1000, 2_000_000_000, 200_000),
  HOLDPOINT_CONSOLE_URL: z.url({ protocol: /^https?$/ }).optional(),
  HOLDPOINT_BOOT_ID: z.string().min(1).optional(),
  PATH: z.string().default('/usr/local/bin:/usr/bin:/bin'),
});

/** The settings of a worker process at its start. */
export interface WorkerConfig extends RuntimeConfig {
  log: string;
  /** `redis://…`, or the absolute path of a unix socket. When undefined, the embedded server of the data directory. */
  redisUrl: string | undefined;
  /** Undefined: the log is not sent by OTLP. */
  logs?: LogExportSettings | undefined;
}

/** Reads the environment. @throws ConfigError naming the variable */
export function readConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const parsed = environmentSchema.safeParse(env);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new ConfigError(`The environment is not valid. ${lines.join('; ')}`);
  }
  const of = parsed.data;
  return {
    version: manifest.version,
    projectDir,
    dataDir: resolve(of.HOLDPOINT_DATA),
    redisUrl: of.REDIS_URL,
    log: of.HOLDPOINT_LOG,
    host: hostname(),
    steps: of.HOLDPOINT_WORKER_STEPS,
    runs: of.HOLDPOINT_WORKER_RUNS ?? defaultRuns(of.HOLDPOINT_WORKER_STEPS),
    turns: of.HOLDPOINT_WORKER_TURNS,
    tasks: of.HOLDPOINT_WORKER_TASKS,
    lockMs: of.HOLDPOINT_LOCK_MS,
    stalledMs: of.HOLDPOINT_STALLED_MS,
    sweepMs: of.HOLDPOINT_SWEEP_MS,
    drainMs: of.HOLDPOINT_DRAIN_MS,
    sourceBytes: of.HOLDPOINT_SOURCE_BYTES,
    layers: of.HOLDPOINT_LAYERS,
    languageServers: of.HOLDPOINT_LANGUAGE_SERVERS,
    chromium: of.HOLDPOINT_CHROMIUM,
    outsideAgents: { most: of.HOLDPOINT_OUTSIDE_AGENTS, idleMs: of.HOLDPOINT_OUTSIDE_AGENT_IDLE_MS },
    mcpPrograms: { most: of.HOLDPOINT_MCP_PROGRAMS, idleMs: of.HOLDPOINT_MCP_PROGRAM_IDLE_MS },
    preparedInputs: of.HOLDPOINT_PREPARED_INPUTS,
    preparedBytes: of.HOLDPOINT_PREPARED_BYTES,
    poolBytes: of.HOLDPOINT_POOL_BYTES,
    maintenanceMs: of.HOLDPOINT_MAINTENANCE_MS,
    retention: { days: of.HOLDPOINT_RETAIN_DAYS, runs: of.HOLDPOINT_RETAIN_RUNS },
    sandboxPolicy: of.HOLDPOINT_SANDBOX,
    allowUnsandboxed: of.HOLDPOINT_ALLOW_UNSANDBOXED,
    toolchains: of.HOLDPOINT_TOOLCHAINS.split(':').filter((path) => path !== ''),
    allowAddresses: of.HOLDPOINT_ALLOW_ADDRESSES.split(',').filter((range) => range !== ''),
    search: {
      provider: of.HOLDPOINT_WEB_SEARCH,
      endpoint: of.HOLDPOINT_SEARCH_ENDPOINT,
      key: of.HOLDPOINT_WEB_SEARCH_KEY,
    },
    graphEndpoint: of.HOLDPOINT_GRAPH_ENDPOINT,
    uidBase: of.HOLDPOINT_SANDBOX_UID_BASE,
    bootId: of.HOLDPOINT_BOOT_ID,
    path: of.PATH,
    models: checked(() => modelSettingsFrom(env)),
    rates: of.HOLDPOINT_MODEL_RATE,
    instructions: checked(() => operatorTextFrom(env)),
    resultBytes: checked(() => resultBytesFrom(env)),
    agentKinds: checked(() => operatorKindsFrom(env)),
    space: spaceLimitsFrom(env),
    ceilings: checked(() => ceilingsFrom(env)),
    roots: checked(() => rootsFrom(env)),
    remotes: remoteFilesFrom(env),
    consoleUrl: of.HOLDPOINT_CONSOLE_URL,
    policyFile: checked(() => policyFileFrom(env)),
    toolModules: checked(() => toolModulesFrom(env)),
    mcpServers: serversFile(resolve(of.HOLDPOINT_DATA), env),
    metrics: checked(() => metricsSettingsFrom(env)),
    logs: checked(() => logExportFrom(env)),
    traces: checked(() => traceSettingsFrom(env)),
  };
}

/** A run in progress keeps a tool host and its caches in memory. Half of the memory is for its commands. */
const bytesPerRun = 128 * 1024 ** 2;

/** Twice the slots: while a run is between two steps, another run has its slot. */
const defaultRuns = (steps: number): number =>
  Math.max(2, Math.min(2 * steps, Math.floor(totalmem() / 2 / bytesPerRun)));

function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ConfigError(`The environment is not valid. ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}
