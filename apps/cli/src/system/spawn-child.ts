import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../shell/index.ts';
import { identify, type ProcessIdentity } from './processes.ts';
import { rotateLog } from './rotate-log.ts';

export interface ChildSpec {
  /** `api`, `worker-1`, …; also the name of the log. */
  name: string;
  /** Absolute path of the program's main file. */
  script: string;
  environment: Readonly<Record<string, string>>;
  logFile: string;
}

export interface Child {
  spec: ChildSpec;
  identity: ProcessIdentity;
  /** Byte in the log where this process begins. */
  logStart: number;
  /** Resolves at its end to `exit 1`, `SIGKILL`, … */
  ended: Promise<string>;
}

/**
 * Starts a part of the system in its own process group, out of reach of Ctrl-C: the parts must end in order. Its output goes to a file, not
 * to a pipe: a file survives the kill of this process.
 */
export function spawnChild(spec: ChildSpec): Child {
  mkdirSync(dirname(spec.logFile), { recursive: true, mode: 0o700 });
  rotateLog(spec.logFile);
  const log = openSync(spec.logFile, 'a', 0o600);
  try {
    const logStart = fstatSync(log).size;
    const child = spawn(process.execPath, [spec.script], {
      cwd: dirname(spec.script),
      detached: true,
      env: { ...spec.environment },
      stdio: ['ignore', log, log],
    });
    const ended = endOf(child);
    const { pid } = child;
    if (pid === undefined) throw new CliError('child_failed', `${spec.name} could not be started (${spec.script}).`);
    // An already ended child has no identity. No process ever matches this identity, so the child counts as gone.
    const identity = identify(pid) ?? { pid, began: 'ended' };
    return { spec, identity, logStart, ended };
  } finally {
    closeSync(log);
  }
}

/** The last lines written by this process. */
export function endOfLog({ spec, logStart }: Pick<Child, 'spec' | 'logStart'>, lines = 5): string[] {
  const content = readFileSync(spec.logFile);
  const text = content.toString('utf8', logStart <= content.length ? logStart : 0);
  return text.trimEnd().split('\n').slice(-lines);
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
  });
