import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';

export interface Launch {
  file: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** User to run as; only a root host can change it. */
  as?: { uid: number; gid: number } | undefined;
  /** Kills the process. */
  signal?: AbortSignal | undefined;
  /** Without it, the process reads an empty stdin. */
  hasInput: boolean;
}

export interface Exit {
  code: number | null;
  /** What is thrown for it is built on this: the failed start, or the exit. */
  cause: Error;
  stderr: string;
}

export interface RunningProcess {
  /** An error of either stream ends nothing: the exit says what happened. */
  stdin: Writable;
  /** The process has not exited before this is read to its end or destroyed. */
  stdout: Readable;
  /** Never rejects. */
  exited: Promise<Exit>;
  kill(): void;
}

/** How a process ended that could be started. */
class ProcessExit extends Error {
  override name = 'ProcessExit';
  readonly code: number | null;
  /** Undefined: it was not killed. */
  readonly signal: NodeJS.Signals | undefined;

  constructor(code: number | null, signal: NodeJS.Signals | null) {
    super(signal === null ? `exit code ${code}` : `killed by ${signal}`);
    this.code = code;
    this.signal = signal ?? undefined;
  }
}

/** Of what git says, an error shows the beginning. */
const stderrBytes = 64 * 1024;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a process whose output is read as bytes, with `spawn` itself: git answers in 2 ms, and a library for processes took as much again
 * for its options and pipelines. A process ends with this one.
 */
export function startProcess({ file, args, env, cwd, as, signal, hasInput }: Launch): RunningProcess {
  let child: ChildProcess;
  try {
    const stdio: StdioOptions = [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'];
    child = spawn(file, args, { env, cwd, stdio, ...as });
  } catch (error) {
    return notStarted(error as Error);
  }
  const failure = new Promise<Error>((resolve) => child.once('error', resolve));
  // Without a descriptor for its pipes, there are none.
  if (!child.stdout || !child.stderr) return { ...notStarted(), exited: failure.then(failedStart) };
  running.add(child);
  const kill = () => void child.kill('SIGKILL');
  if (signal?.aborted) kill();
  signal?.addEventListener('abort', kill, { once: true });
  const said: Buffer[] = [];
  let bytes = 0;
  child.stderr.on('data', (piece: Buffer) => {
    if (bytes < stderrBytes) said.push(piece);
    bytes += piece.length;
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
  const closed = new Promise<Exit>((resolve) => {
    let failed: Error | undefined;
    child.on('error', (error) => {
      failed = error;
    });
    child.once('close', (code, killedBy) => {
      running.delete(child);
      signal?.removeEventListener('abort', kill);
      if (failed !== undefined) resolve(failedStart(failed));
      else resolve({ code, cause: new ProcessExit(code, killedBy), stderr: Buffer.concat(said).toString('utf8') });
    });
  });
  return { stdin: child.stdin ?? nowhere(), stdout: child.stdout, exited: closed, kill };
}

const failedStart = (cause: Error): Exit => ({ code: null, cause, stderr: '' });

const notStarted = (cause = new Error('not started')): RunningProcess => ({
  stdin: nowhere(),
  stdout: Readable.from([]),
  exited: Promise.resolve(failedStart(cause)),
  kill: () => {},
});

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
