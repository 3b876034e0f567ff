import { delimiter, dirname, isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { signature } from '../git-objects/index.ts';
import { type RunningProcess, startProcess } from './git-process.ts';

/**
 * The host's git. It runs on bare repositories and on sources, never inside a tree that an agent writes: opening such a tree runs its
 * fsmonitor, filters and hooks, and hardening flags do not stop `filter.clean`.
 */
export interface Git {
  /** Runs git and returns its output as bytes. Throws EGITFAILED for a non-zero exit unless `accept` lists the code. */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** Starts git for streaming: bytes in, bytes out. */
  stream(args: readonly string[], options?: GitOptions): GitStream;
}

export interface GitOptions {
  signal?: AbortSignal;
  input?: Uint8Array | string;
  /** Exit codes that are no failures. @default [0] */
  accept?: readonly number[];
  /** Throws EDIFFTOOLARGE for more output than this. @default 64 MiB */
  maxBytes?: number;
  /** User to run as; only a root host can change it. */
  as?: { uid: number; gid: number };
  env?: Readonly<Record<string, string>>;
  /** @default '/' */
  cwd?: string;
}

interface GitResult {
  code: number;
  stdout: Buffer;
}

interface GitStream {
  stdin: Writable;
  stdout: Readable;
  /** Settles when git has exited and its output was read. Throws EGITFAILED for a non-zero exit. */
  done: Promise<void>;
  kill(): void;
}

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
    // Override the configuration of a repository, where a partial clone can name a program that fetches missing objects. git before
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

async function run(launch: Launch, args: readonly string[], options: GitOptions): Promise<GitResult> {
  const git = startGit(launch, args, { ...options, hasInput: options.input !== undefined });
  git.stdin.end(options.input);
  const maxBytes = options.maxBytes ?? 64 * 1024 * 1024;
  const pieces: Buffer[] = [];
  let bytes = 0;
  git.stdout.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= maxBytes) pieces.push(piece);
    else git.kill();
  });
  const { code, cause, stderr } = await git.exited;
  options.signal?.throwIfAborted();
  if (bytes > maxBytes) throw new WorkspaceError('EDIFFTOOLARGE', `git ${args[0]} wrote more than the limit.`);
  if (code === null || !(options.accept ?? [0]).includes(code)) throw failure(args, stderr, cause);
  return { code, stdout: Buffer.concat(pieces, bytes) };
}

function start(launch: Launch, args: readonly string[], options: GitOptions): GitStream {
  const { stdin, stdout, exited, kill } = startGit(launch, args, { ...options, hasInput: true });
  const done = exited.then(({ code, cause, stderr }) => {
    options.signal?.throwIfAborted();
    if (code !== 0) throw failure(args, stderr, cause);
  });
  done.catch(() => {});
  return { stdin, stdout, done, kill };
}

const startGit = (
  { file, env }: Launch,
  args: readonly string[],
  { cwd = '/', as, signal, hasInput, ...options }: GitOptions & { hasInput: boolean },
): RunningProcess =>
  startProcess({ file, args: [...flags, ...args], env: { ...env, ...options.env }, cwd, as, signal, hasInput });

function failure(args: readonly string[], stderr: string, cause: unknown): WorkspaceError {
  if (errnoOf(cause) === 'ENOENT') return new WorkspaceError('EGITMISSING', 'git was not found.', { cause });
  const verb = args.find((arg) => !arg.startsWith('-')) ?? '';
  const code = /No space left on device|Disk quota exceeded/.test(stderr) ? 'ENOSPC' : 'EGITFAILED';
  return new WorkspaceError(code, `git ${verb} failed: ${stderr.trim().slice(0, 2000)}`, { cause });
}
