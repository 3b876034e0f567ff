import type { Server } from 'node:net';
import type { CapabilityReport } from '@holdpoint/contract';

/** A workspace: one host directory, mounted read-write at `/workspace`. No other files of the host are writable inside. */
export interface WorkspaceMount {
  /** The run's id. Each id has one tool host. */
  id: string;
  /** Absolute host path of the tree. */
  path: string;
  /** Host uid and gid that own the tree. On a root host the sandbox runs as these. Elsewhere they are the worker's own. */
  uid: number;
  gid: number;
  /**
   * Set when the workspace has Holdpoint's repository at `.git`. The entries of `fixed` are mounted read-only over the same names in it, and
   * `objects`, its base objects, at `/holdpoint/objects`. Absolute host paths.
   */
  repository?: { fixed: string; objects: string };
}

/** Limits of one command. */
export interface Limits {
  /** @default 120_000 */
  wall_ms: number;
  /** CPU seconds of one process. @default 120 */
  cpu_seconds: number;
  /** CPU seconds of all processes together. Applies only with control groups. @default 3600 */
  cpu_total_seconds: number;
  /** CPU share of all processes together, in percent of one processor (400: four). Applies only with control groups. @default 400 */
  cpu_percent: number;
  /** Processes and threads at once. @default 512 */
  processes: number;
  /** Size of one file. @default 1 GiB */
  file_bytes: number;
  /** @default 1024 */
  open_files: number;
  /** stdout and stderr together. The command is killed above it. @default 10 MiB */
  output_bytes: number;
  /**
   * Memory of all processes together, including files in /tmp. With control groups the kernel enforces it. Elsewhere the worker measures it
   * ten times a second, and the kernel applies it to the writable private memory of each process. Address space does not count: wasm and
   * garbage collectors reserve far more. @default 4 GiB
   */
  memory_bytes: number;
  /**
   * Disk space of the whole workspace and of open files without a name. Each file, directory and link counts as at least 4 KiB. Measured ten
   * times a second and at the end. A command with uncountable files (fds in flight) is charged with all space that the disk has lost since
   * the command began. A command may run in a workspace over the limit, but not add to it. @default 4 GiB
   */
  workspace_bytes: number;
}

/** A command's way out of the sandbox, implemented by `EgressProxy`. */
export interface CommandEgress {
  /** Variables that lead the command to the proxy on this port of its loopback. */
  environment(port: number): Record<string, string>;
  /** Serves connections to a server that listens inside. Returns a function that closes the server and its connections. */
  serve(server: Server): () => void;
}

/** Receives a command's output as it arrives. */
interface CommandOutput {
  /** The chunk is valid only until this returns. An error ends the command, and `run` throws it. */
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

export interface Command {
  workspace: WorkspaceMount;
  /** `kill` on any worker of this host finds the command by its label. `withFrozen` freezes commands with a label. */
  label?: string;
  /** Executed as is. For a shell line use `['/bin/bash', '-c', line]`. */
  argv: readonly [string, ...string[]];
  /** Relative to the workspace root. @default '.' */
  cwd?: string;
  /** The command's environment. It may replace the sandbox's own PATH, HOME, LANG and TMPDIR. Names are identifiers. */
  env?: Readonly<Record<string, string>>;
  /** @default none: no network */
  egress?: CommandEgress;
  stdin?: string;
  limits?: Partial<Limits>;
  /** Receives the output. The streams of the result are then empty, and `output_bytes` does not apply. */
  output?: CommandOutput;
  /** Called when the command begins to run. */
  onBegun?: () => void;
  /** Aborting kills the whole process tree. */
  signal: AbortSignal;
  /** Aborting sends SIGTERM to the whole process tree, and SIGKILL after 150 ms. */
  stop?: AbortSignal;
}

/** One output stream, decoded as UTF-8. Over 64 KiB only the first and last 32 KiB. */
export interface CapturedStream {
  text: string;
  bytes: number;
  truncated: boolean;
}

export type CommandEnd =
  /** `signal` is set when the exit code is 128 + its number. Shells and bubblewrap report signals in this way only. */
  | { status: 'exited'; exit_code: number; signal: string | null }
  | { status: 'timed_out'; after_ms: number }
  /**
   * The command exceeded a limit and was killed with its whole process tree, or had ended by then. `limit` is in the limit's own unit.
   * - memory: the kernel killed one of its processes for lack of memory, or all together were over the limit
   * - disk: it wrote most while the disk had less free space than `limit`, whatever its own limits
   * - processes: new processes were refused, and it failed or kept trying
   */
  | {
      status: 'quota';
      quota: 'output' | 'cpu' | 'file_size' | 'memory' | 'workspace' | 'disk' | 'processes';
      limit: number;
    }
  /** `taken_over`: by `killAll` or `kill`, also of another worker. */
  | { status: 'killed'; reason: string; taken_over?: true };

export interface CommandResult {
  end: CommandEnd;
  stdout: CapturedStream;
  stderr: CapturedStream;
  duration_ms: number;
  capabilities: CapabilityReport;
}

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

export interface FileStat {
  type: EntryType;
  bytes: number;
  /** Permission bits, e.g. 0o644. */
  mode: number;
  mtime_ms: number;
}

export interface FileContent {
  data: Buffer;
  /** Size of the whole file, not of `data`. */
  bytes: number;
  /** sha256 (hex) of the whole file; null when the file is larger than `max_bytes`. */
  sha256: string | null;
  mode: number;
}

export interface DirectoryEntry {
  name: string;
  type: EntryType;
  bytes: number;
}

/** What a write requires of the present file. The check and the write are atomic. */
export type WriteExpectation = { exists: false } | { sha256: string } | { any: true };

export interface GlobQuery {
  /** Relative to the root. @default '.' */
  cwd?: string;
  patterns: readonly string[];
  ignore?: readonly string[];
  /** Include names that start with a dot. @default false */
  dot?: boolean;
  /** @default 'file' */
  type?: 'file' | 'directory' | 'any';
  /** @default 1000 */
  limit?: number;
}

/**
 * Files of one workspace. The tool host reads and writes them inside the sandbox. Paths are relative to the workspace root or start with
 * `/workspace`. A path that leads outside gets `EOUTSIDE`. Every failure is a `FileError`, except that a broken or lying tool host is a
 * `SandboxError` with `retryable: true`.
 */
export interface WorkspaceFiles {
  /** Follows links that stay inside, so the type is never `symlink`. */
  stat(path: string, signal?: AbortSignal): Promise<FileStat>;
  /** @param options.max_bytes maximum size of `data`, up to 32 MiB. @default 10 MiB. @param options.offset @default 0 */
  read(path: string, options?: { max_bytes?: number; offset?: number }, signal?: AbortSignal): Promise<FileContent>;
  /**
   * Writes a temporary file and renames it, so a failed write leaves the old content intact. Keeps the mode of a replaced file. At most
   * 32 MiB. A failed expectation is EEXIST or ECHANGED.
   * @param options.parents create missing directories. @default true
   */
  write(
    path: string,
    data: Buffer,
    options: { expect: WriteExpectation; parents?: boolean },
    signal?: AbortSignal,
  ): Promise<{ bytes: number; created: boolean; sha256: string }>;
  /** Sorted by name in byte order. `total` counts all entries. @param options.limit at most 10_000, the default. Fewer when the names take more than 1 MiB */
  list(
    path: string,
    options?: { limit?: number },
    signal?: AbortSignal,
  ): Promise<{ entries: DirectoryEntry[]; total: number }>;
  /** Paths relative to the root, sorted in byte order. Symbolic links are not followed. */
  glob(query: GlobQuery, signal?: AbortSignal): Promise<{ paths: string[]; total: number; truncated: boolean }>;
}

/** One host's isolation, probed at boot. */
export interface Sandbox extends AsyncDisposable {
  readonly capabilities: CapabilityReport;
  /** Path of the bundled ripgrep inside the sandbox. */
  readonly ripgrep: string;
  /** Runs one command in a fresh sandbox. Resolves once the whole process tree has ended. Throws `SandboxError` when the set-up fails. */
  run(command: Command): Promise<CommandResult>;
  /** The files of a workspace. Its tool host starts at the first call and ends when idle. */
  files(workspace: WorkspaceMount): WorkspaceFiles;
  /**
   * Kills every sandboxed process of this workspace on this host, including those of other (dead, stopped or superseded) workers.
   * Called before a workspace is restored, so that no process of an earlier attempt can still write to it.
   */
  killAll(workspaceId: string): Promise<void>;
  /** Like `killAll`, for the commands with this label only. */
  kill(workspaceId: string, label: string): Promise<void>;
  /**
   * Runs an action while the workspace's commands with a label are frozen on this host: SIGSTOP to all their processes, whichever worker
   * started them, and always SIGCONT afterwards. A command that starts during the action begins afterwards, so the action must not wait for
   * it. Tool hosts and commands without a label keep running.
   *
   * - Calls for one workspace may overlap, also in several workers of the host. The last to end thaws the commands.
   * - Processes that had stopped by themselves continue as well.
   * - When the acting worker dies, the worker that runs a command thaws it within a second. When the acting worker is stopped itself,
   *   commands stay frozen, and new ones wait, until it continues or `killAll` is called.
   * - The action gets the number of frozen commands. With 0, no labelled command can run before the action has ended.
   * - The `wall_ms` of a frozen command keeps running.
   *
   * Without such commands it costs 0.1 ms. Throws `SandboxError` EFREEZEFAILED, without running the action, when a process does not stop.
   */
  withFrozen<Result>(workspaceId: string, action: (frozen: number) => Promise<Result>): Promise<Result>;
  [Symbol.asyncDispose](): Promise<void>;
}
