import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SpaceLimits, spaceLimitsFrom } from '@holdpoint/engine/space';
import { z } from 'zod';
import { CliError } from './errors.ts';

const projectDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');

/** An empty variable counts as not set. */
const text = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));

const environmentSchema = z.object({
  HOLDPOINT_DATA: text,
  HOLDPOINT_URL: text.pipe(
    z.url({ protocol: /^https?$/, error: 'expected a URL such as http://127.0.0.1:4747' }).optional(),
  ),
  HOLDPOINT_KEY: text,
  HOLDPOINT_HOST: text,
  HOLDPOINT_PORT: text,
  HOLDPOINT_LOG: text,
  HOLDPOINT_TOOLCHAINS: text,
  HOLDPOINT_DRAIN_MS: text.pipe(z.coerce.number<string | undefined>().int().min(0).max(3_600_000).default(10_000)),
  REDIS_URL: text,
  PATH: z.string().default('/usr/local/bin:/usr/bin:/bin'),
  NO_COLOR: text,
  FORCE_COLOR: text,
  TERM: text,
  INIT_CWD: text,
});

/** The command's settings from its environment. */
export interface Config {
  projectDir: string;
  /** The caller's directory: relative paths start there. */
  cwd: string;
  /** Absolute. @default `<project>/.holdpoint` */
  dataDir: string;
  /** When undefined, the running system of the data directory. */
  url: string | undefined;
  key: string | undefined;
  /** Where the API of this machine would listen by its settings. */
  localUrl: string;
  /** When undefined, the embedded Redis of the data directory. */
  redisUrl: string | undefined;
  path: string;
  /** Directories outside /usr mounted into sandboxes by workers. */
  toolchains: string[];
  /** How long a worker may take to finish running steps. */
  drainMs: number;
  /** Free space to keep on the disk of the data directory. */
  space: SpaceLimits;
  /** When undefined, colour on a terminal. */
  color: boolean | undefined;
  /** All non-empty variables. */
  environment: Readonly<Record<string, string>>;
  /** The environment inherited by the children of `up`. */
  childEnvironment: Readonly<Record<string, string>>;
}

/**
 * Reads the environment.
 *
 * @param cwd of the process. @throws CliError `bad_environment` naming the variable
 */
export function readConfig(env: NodeJS.ProcessEnv, processCwd: string): Config {
  const parsed = environmentSchema.safeParse(env);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(
      (issue) =>
        `${issue.path.join('.')}: ${issue.message.replace(/^Invalid input: expected number.*$/, 'expected a number')}`,
    );
    throw new CliError('bad_environment', lines.join('\n'));
  }
  const of = parsed.data;
  // npm runs its scripts in the project, and passes the caller's directory in INIT_CWD.
  const cwd = processCwd === projectDir ? (of.INIT_CWD ?? processCwd) : processCwd;
  return {
    projectDir,
    cwd,
    dataDir: resolve(cwd, of.HOLDPOINT_DATA ?? join(projectDir, '.holdpoint')),
    url: of.HOLDPOINT_URL,
    key: of.HOLDPOINT_KEY,
    localUrl: localUrlOf(of.HOLDPOINT_HOST, of.HOLDPOINT_PORT),
    redisUrl: of.REDIS_URL,
    path: of.PATH,
    toolchains: (of.HOLDPOINT_TOOLCHAINS ?? '').split(':').filter((path) => path !== ''),
    drainMs: of.HOLDPOINT_DRAIN_MS,
    space: spaceOf(env),
    color: colorOf(of),
    environment: definedIn(env),
    childEnvironment: childEnvironmentOf(env, of.HOLDPOINT_LOG),
  };
}

/** A wildcard is no target to connect to. The API refuses wrong values at its own start. */
function localUrlOf(host = '127.0.0.1', port = '4747'): string {
  const at = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  const url = `http://${at.includes(':') ? `[${at}]` : at}:${/^[1-9]\d*$/.test(port) ? port : 4747}`;
  return URL.canParse(url) ? url : 'http://127.0.0.1:4747';
}

function spaceOf(env: NodeJS.ProcessEnv): SpaceLimits {
  try {
    return spaceLimitsFrom(env);
  } catch (cause) {
    throw new CliError('bad_environment', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function colorOf(of: { NO_COLOR?: string | undefined; FORCE_COLOR?: string | undefined; TERM?: string | undefined }) {
  if (of.NO_COLOR !== undefined || of.TERM === 'dumb' || of.FORCE_COLOR === '0') return false;
  return of.FORCE_COLOR === undefined ? undefined : true;
}

/** `up` recognises a ready child by a line of its log, so the log level is at least `info`. */
const childEnvironmentOf = (env: NodeJS.ProcessEnv, log: string | undefined): Record<string, string> => ({
  ...definedIn(env),
  HOLDPOINT_LOG: log === 'debug' ? 'debug' : 'info',
});

const definedIn = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
