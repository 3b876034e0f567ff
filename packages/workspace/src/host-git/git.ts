import { delimiter, dirname, isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { signature } from '../store/objects/index.ts';

/**
 * The host's git. The host's git runs on bare repositories and on sources, never inside a tree written by an agent: opening such a tree
 * runs its fsmonitor, filters and hooks, and hardening flags do not stop `filter.clean`.
 */
export interface Git {
  /** Runs git and returns its output as bytes. Throws EGITFAILED for a non-zero exit unless `accept` lists the code. */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** Starts git for streaming: bytes in, bytes out. */
  stream(args: readonly string[], options?: GitOptions): GitStream;
  /** Reads objects through a program kept open for an operation. @default a program for each read */
  readonly objects?: ObjectReader;
  /** Learned from the first program that needs each of them. */
  readonly abilities: GitAbilities;
}

interface GitAbilities {
  /** Whether `cat-file` takes `--batch-command` (git 2.36): one program answers for contents and for sizes. */
  batchCommand: boolean;
}

export interface ObjectReader {
  /**
   * Answers of `git cat-file` for some names, piece by piece.
   * @param isDone whether the caller has the whole answer
   */
  read(query: ObjectQuery, isDone: () => boolean): AsyncIterable<Buffer>;
}

export interface ObjectQuery {
  gitDir: string;
  /** Ids, or expressions such as `<commit>^{tree}`; without line breaks. */
  names: readonly string[];
  /** `info`: a line for each object, without its content. @default 'contents' */
  what?: 'contents' | 'info';
  /** The user of git, and the folder to start git in. @default this process's, and '/' */
  options?: Pick<GitOptions, 'as' | 'cwd'>;
  signal?: AbortSignal | undefined;
}

export interface GitOptions {
  signal?: AbortSignal;
  input?: Uint8Array | string;
  /** Exit codes without a failure. @default [0] */
  accept?: readonly number[];
  /** Throws EDIFFTOOLARGE for more output than this. @default 64 MiB */
  maxBytes?: number;
  /** User to run as; only a root host can change the user. */
  as?: { uid: number; gid: number };
  env?: Readonly<Record<string, string>>;
  /** @default '/' */
  cwd?: string;
}

interface GitResult {
  code: number;
  stdout: Buffer;
}

export type GitStream = ReturnType<typeof start>;

interface Launch {
  file: string;
  env: Record<string, string>;
}

const flags = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.sshCommand=false']
  .concat(['gc.auto=0', 'maintenance.auto=false', 'submodule.recurse=false', 'core.fsync=committed,reference'])
  .concat(['protocol.allow=never'])
  .flatMap((setting) => ['-c', setting]);

/** git neither loads files of at least 4 MiB into memory nor deltifies or diffs them. Its own limit is 512 MiB. */
export const bigFileFlags = ['-c', `core.bigFileThreshold=${4 * 1024 * 1024}`];

export function createGit(deps: { gitPath?: string }): Git {
  const launch = { file: deps.gitPath ?? 'git', env: environment(deps.gitPath) };
  return {
    run: (args, options = {}) => run(launch, args, options),
    stream: (args, options = {}) => start(launch, args, options),
    abilities: { batchCommand: true },
  };
}

/** The complete environment of git: no variable of the worker, no user or system configuration. */
function environment(gitPath: string | undefined): Record<string, string> {
  const path = ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin'];
  if (gitPath !== undefined && isAbsolute(gitPath)) path.unshift(dirname(gitPath));
  return {
    PATH: path.join(delimiter),
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Override the configuration of a repository, where a partial clone can name a program to fetch missing objects. git before
    // 2.39.4 ignores the second variable.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_AUTHOR_NAME: signature.name,
    GIT_AUTHOR_EMAIL: signature.email,
    GIT_COMMITTER_NAME: signature.name,
    GIT_COMMITTER_EMAIL: signature.email,
  };
}

/** More messages than this end git. Bytes. */
const mostMessages = 16 * 1024 * 1024;

/** Collects the output without execa: execa's own limit makes a single string of the output, and V8 has no string of 512 MiB. */
async function run(launch: Launch, args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { stdin, stdout, done, kill } = start(launch, args, options);
  stdin.on('error', () => {});
  stdin.end(options.input);
  const most = options.maxBytes ?? 64 * 1024 * 1024;
  const read: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of stdout as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
      if (bytes > most) throw new WorkspaceError('EDIFFTOOLARGE', `git ${verbOf(args)} wrote more than ${most} bytes.`);
      read.push(piece);
    }
  } catch (error) {
    kill();
    await done.catch(() => {});
    options.signal?.throwIfAborted();
    throw error;
  }
  const code = await done;
  return { code, stdout: Buffer.concat(read, bytes) };
}

function start(launch: Launch, args: readonly string[], options: GitOptions) {
  const subprocess = execa(launch.file, [...flags, ...args], {
    ...common(launch, options),
    encoding: 'buffer',
    buffer: { stdout: false, stderr: true },
    maxBuffer: { stderr: mostMessages },
    stripFinalNewline: false,
    reject: false,
    stdin: 'pipe',
  });
  const done = subprocess.then((result) => {
    options.signal?.throwIfAborted();
    const { exitCode } = result;
    if (exitCode !== undefined && (options.accept ?? [0]).includes(exitCode)) return exitCode;
    throw failure(
      args,
      Buffer.from((result.stderr as Uint8Array | undefined) ?? []).toString('utf8'),
      result.cause ?? result,
    );
  });
  done.catch(() => {});
  return { stdin: subprocess.stdin, stdout: subprocess.stdout, done, kill: () => subprocess.kill('SIGKILL') };
}

function common(launch: Launch, options: GitOptions) {
  return {
    env: { ...launch.env, ...options.env },
    extendEnv: false,
    cwd: options.cwd ?? '/',
    killSignal: 'SIGKILL',
    cancelSignal: options.signal,
    ...options.as,
  } as const;
}

function failure(args: readonly string[], stderr: string, cause: unknown): WorkspaceError {
  if (errnoOf(cause) === 'ENOENT') return new WorkspaceError('EGITMISSING', 'git was not found.', { cause });
  const code = /No space left on device|Disk quota exceeded/.test(stderr) ? 'ENOSPC' : 'EGITFAILED';
  return new WorkspaceError(code, `git ${verbOf(args)} failed: ${stderr.trim().slice(0, 2000)}`, { cause });
}

/**
 * Pipes a stream into the input of a program. `index-pack` exits once it has read the trailer of a pack, perhaps before the stream has seen its
 * end: the stream is then unpiped and paused, and would never end. So its rest is read and dropped.
 */
export function pipeInput(from: Readable, to: Writable): void {
  to.on('error', () => {});
  from.pipe(to);
  to.once('close', () => from.resume());
}

const verbOf = (args: readonly string[]): string =>
  args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-c') ?? '';
