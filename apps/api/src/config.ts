import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CallerLimits, callerLimitsFrom } from '@holdpoint/callers';
import { secretNameSchema } from '@holdpoint/contract';
import { type Ceilings, ceilingsFrom, policyFileFrom } from '@holdpoint/engine';
import { type SpaceLimits, spaceLimitsFrom } from '@holdpoint/engine/space';
import { serversFile } from '@holdpoint/mcp';
import { type ModelSettings, modelSettingsFrom } from '@holdpoint/models';
import { openSecrets, type Secrets, secretSettingsFrom } from '@holdpoint/secrets';
import * as telemetry from '@holdpoint/telemetry';
import { toolModulesFrom } from '@holdpoint/tools';
import type { Roots } from '@holdpoint/workspace';
import { rootsFrom } from '@holdpoint/workspace/roots';
import { z } from 'zod';
import { type SignInSettings, signInSettingsFrom } from './sign-in-settings.ts';

const projectDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

export interface Config {
  /** Absolute path. */
  dataDir: string;
  host: string;
  /** Names by which clients reach the API, in addition to addresses and the names of this machine. */
  hostNames: readonly string[];
  /** 0: any free port. */
  port: number;
  /** `redis://…`, `rediss://…` or the absolute path of a unix socket. Undefined: the embedded server of the data directory. */
  redisUrl: string | undefined;
  logLevel: z.infer<typeof levelSchema>;
  models: ModelSettings;
  /** CIDR ranges permitted in a run's allowlist in addition to the public addresses; the workers' setting. */
  allowAddresses: readonly string[];
  /** The address for push services to write to about this sender: `mailto:` or `https:`. */
  pushContact?: string;
  /** Where people open the console, for links in messages: without a slash at its end. */
  publicUrl?: string | undefined;
  /** The name of the secret that signs webhooks of GitHub. Undefined: none are taken. */
  githubWebhook?: string | undefined;
  /** The name that passkeys are made for. Undefined: the name of each page. */
  passkeyDomain?: string | undefined;
  /** Space to leave free on the disk of the data directory. */
  space: SpaceLimits;
  /** The ceilings of every run's limits. */
  ceilings: Ceilings;
  /** Rates of keys and tenants, and the simultaneous active runs permitted to a tenant. */
  callerLimits: CallerLimits;
  /** Where sources may lie and where a publish may write; the workers' setting. */
  roots?: Roots;
  /** The file of the operator's policy; undefined: the policy is in the store. The workers' setting. */
  policyFile?: string | undefined;
  /** Modules with tools of the operator; the workers' setting. */
  toolModules?: readonly string[];
  /** The file of outside MCP servers; the workers' setting. @default `mcp-servers.json` in the data directory */
  mcpServers?: string;
  /** Where packages among them are resolved from. */
  projectDir?: string;
  /** Opened before the log, because the log redacts secrets. */
  secrets: Secrets;
  metrics?: telemetry.MetricsSettings;
  /** The identity provider that people sign in with. */
  signIn?: SignInSettings | undefined;
  /** Undefined: the log is not sent by OTLP. */
  logs?: telemetry.LogExportSettings | undefined;
  /** Undefined: no traces are exported. */
  traces?: telemetry.TraceSettings | undefined;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_configuration';
  readonly next = 'Correct the environment of this process and start it again.';
}

/**
 * Reads an environment, and removes its secrets. An empty variable counts as unset.
 * @throws ConfigError naming every wrong variable; ModelError for the variables of the models; SecretError for unreadable secrets
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new ConfigError(wrong.join('; '));
  }
  const { HOLDPOINT_DATA, HOLDPOINT_HOST, HOLDPOINT_PORT, REDIS_URL, HOLDPOINT_LOG } = parsed.data;
  return {
    dataDir: resolve(HOLDPOINT_DATA),
    host: HOLDPOINT_HOST,
    hostNames: parsed.data.HOLDPOINT_API_HOSTS.split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
    port: HOLDPOINT_PORT,
    redisUrl: REDIS_URL,
    logLevel: HOLDPOINT_LOG,
    models: modelSettingsFrom(env),
    allowAddresses: parsed.data.HOLDPOINT_ALLOW_ADDRESSES.split(',').filter((range) => range !== ''),
    pushContact: parsed.data.HOLDPOINT_PUSH_CONTACT,
    githubWebhook: parsed.data.HOLDPOINT_GITHUB_WEBHOOK,
    passkeyDomain: parsed.data.HOLDPOINT_PASSKEY_DOMAIN,
    publicUrl: parsed.data.HOLDPOINT_PUBLIC_URL?.replace(/\/+$/, ''),
    space: spaceLimitsFrom(given),
    ...boundsOf(given),
    projectDir,
    mcpServers: serversFile(resolve(HOLDPOINT_DATA), env),
    secrets: openSecrets(secretSettingsFrom(env, { dataDir: resolve(HOLDPOINT_DATA) })),
  };
}

function boundsOf(
  env: Record<string, string | undefined>,
): Pick<
  Config,
  'ceilings' | 'callerLimits' | 'roots' | 'policyFile' | 'toolModules' | 'metrics' | 'traces' | 'logs' | 'signIn'
> {
  try {
    return {
      ceilings: ceilingsFrom(env),
      callerLimits: callerLimitsFrom(env),
      roots: rootsFrom(env),
      policyFile: policyFileFrom(env),
      toolModules: toolModulesFrom(env),
      metrics: telemetry.metricsSettingsFrom(env),
      logs: telemetry.logExportFrom(env),
      signIn: signInSettingsFrom(env),
      traces: telemetry.traceSettingsFrom(env),
    };
  } catch (cause) {
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

const levelSchema = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']);

/** Not strict: an environment has variables of other programs. */
const environmentSchema = z.object({
  HOLDPOINT_DATA: z.string().default(join(projectDir, '.holdpoint')),
  /** @default 127.0.0.1 */
  HOLDPOINT_HOST: z.string().default('127.0.0.1'),
  /** Comma-separated host names. */
  HOLDPOINT_API_HOSTS: z.string().default(''),
  /** @default 4747 */
  HOLDPOINT_PORT: z.coerce.number().pipe(z.int().min(0).max(65_535)).default(4747),
  HOLDPOINT_ALLOW_ADDRESSES: z.string().default(''),
  HOLDPOINT_GITHUB_WEBHOOK: secretNameSchema.optional(),
  HOLDPOINT_PUSH_CONTACT: z
    .string()
    .regex(/^(mailto:\S+@\S+|https:\/\/\S+)$/, 'expected mailto:NAME@HOST or an https:// address')
    .optional(),
  HOLDPOINT_PUBLIC_URL: z
    .string()
    .max(500)
    .regex(/^https?:\/\/[^\s?#@]+$/, 'expected the address of the console, such as https://holdpoint.example.com')
    .optional(),
  HOLDPOINT_PASSKEY_DOMAIN: z
    .string()
    .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'expected a name in lower case, without port and scheme')
    .optional(),
  REDIS_URL: z
    .string()
    .regex(/^(rediss?:\/\/|\/)/, 'expected a redis:// or rediss:// URL, or the absolute path of a unix socket')
    .optional(),
  /** @default info */
  HOLDPOINT_LOG: levelSchema.default('info'),
});
