import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { killWithParent } from '@holdpoint/embedded-redis/testing';

export const projectDir = resolve(fileURLToPath(new URL('.', import.meta.url)), '../..');

/** HOLDPOINT_TEST_LAYERS (`always` or `copy`) runs any suite with trees of this form. */
export const layersEnv =
  process.env.HOLDPOINT_TEST_LAYERS === undefined ? {} : { HOLDPOINT_LAYERS: process.env.HOLDPOINT_TEST_LAYERS };

/** The environment of each process. The settings of the tests' user are left out. `up` uses the same compile cache. */
export const appEnv = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: join(projectDir, '.cache/compiled'),
  // The tools of a model are the same with a browser on the machine and without one.
  HOLDPOINT_CHROMIUM: 'none',
  ...layersEnv,
};

export interface AppProcess {
  pid: number;
  /** The parsed line with the report of readiness. */
  ready: Record<string, unknown>;
  /** Sends a signal. Resolves when the process is gone, or at once after SIGSTOP and SIGCONT. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Resolves when the process is gone. */
  gone: Promise<void>;
  isAlive(): boolean;
}

/** Starts an app as a separate process and waits for its report of readiness. Its log goes to a file. */
export async function startApp(options: {
  entry: string;
  env: Record<string, string>;
  logFile: string;
  isReady: (line: Record<string, unknown>) => boolean;
  /** A module loaded by Node before the app. */
  preload?: string;
  /** A program with arguments to start the app. */
  through?: readonly string[];
}): Promise<AppProcess> {
  const { program, env } = programOf(options);
  const command = [...(options.through ?? []), process.execPath, ...program];
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: projectDir,
    env: { ...appEnv, ...env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) killWithParent(child.pid);
  const log = createWriteStream(options.logFile, { flags: 'a' });
  child.stderr.pipe(log, { end: false });
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  const ready = await firstLine(child, log, options, gone);
  return {
    pid: child.pid ?? 0,
    ready,
    gone,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async signal(name) {
      child.kill(name);
      if (name !== 'SIGSTOP' && name !== 'SIGCONT') await gone;
    },
  };
}

/**
 * The bundle of an app loads with a third of the CPU time of its 1,000 sources. `npm test` and `test:crash` make bundles, also for `up`; the
 * other suites start the sources as users do. A module loaded before the app finds no module of a bundle to change.
 */
function programOf({ entry, preload }: { entry: string; preload?: string }): { program: string[]; env: object } {
  const bundles = process.env.HOLDPOINT_TEST_PROGRAMS;
  if (preload !== undefined) return { program: ['--import', preload, join(projectDir, entry)], env: {} };
  if (bundles === undefined) return { program: [join(projectDir, entry)], env: {} };
  const [, app] = entry.split('/');
  return { program: [join(bundles, `${app}/${app}.js`)], env: { NODE_COMPILE_CACHE: join(bundles, 'compiled') } };
}

const firstLine = (
  child: ChildProcess,
  log: NodeJS.WritableStream,
  options: { entry: string; logFile: string; isReady: (line: Record<string, unknown>) => boolean },
  gone: Promise<void>,
): Promise<Record<string, unknown>> =>
  new Promise((found, fail) => {
    if (!child.stdout) return fail(new Error('no stdout'));
    createInterface({ input: child.stdout }).on('line', (text) => {
      log.write(`${text}\n`);
      const line = parse(text);
      if (line && options.isReady(line)) found(line);
    });
    gone.then(() => fail(new Error(`${options.entry} ended before it was ready; see ${options.logFile}`)));
  });

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
