import type { Server } from 'node:net';
import type { CapabilityReport } from '@holdpoint/contract';

/**
 * What the rest of Holdpoint knows of isolation. Which driver (bubblewrap, or none) is behind a `Sandbox` is decided
 * where it is opened, and nowhere else.
 */

/** A workspace as the sandbox sees it: one host directory, mounted read-write at `/workspace`, and nothing else of the host's files. */
export interface WorkspaceMount {
  /** Names the workspace: one tool host is kept per id. The run's id. */
  id: string;
  /** Absolute host path of the tree. */
  path: string;
  /** Host uid and gid that own the tree. On a root host the sandbox runs as these; otherwise they are the caller's own. */
  uid: number;
  gid: number;
  /**
   * The workspace holds a repository of ours at `.git`: what lies in `fixed` is mounted read-only over the same names in it, and its base
   * objects at `/holdpoint/objects`. Absolute host paths.
   */
  repository?: { fixed: string; objects: string };
}

/** Bounds of one command. Sizes in bytes, times in milliseconds unless the name says otherwise. */
export interface Limits {
  /** @default 120_000 */
  wall_ms: number;
  /** CPU seconds of one process. @default 120 */
  cpu_seconds: number;
  /** CPU seconds of all processes together, where the host counts them (control groups). @default 3600 */
  cpu_total_seconds: number;
  /** Share of the processors that all processes together may take, in percent of one (400: four of them), where the host can hold it. @default 400 */
  cpu_percent: number;
  /** Processes and threads at once. @default 512 */
  processes: number;
  /** Largest file that may be written. @default 1 GiB */
  file_bytes: number;
  /** @default 1024 */
  open_files: number;
  /** stdout and stderr together; past it the command is killed. @default 10 MiB */
  output_bytes: number;
  /**
   * Memory of all processes together, files in /tmp included. Held by the kernel where the host has control groups; elsewhere it is looked
   * at ten times a second, and the kernel holds the writable private memory of one process to it. Never address space, of which wasm and
   * garbage collectors reserve far more. @default 4 GiB
   */
  memory_bytes: number;
  /**
   * Disk space of the whole workspace, and of files without a name that processes hold; each file, directory and link counts as 4 KiB at
   * least. Looked at ten times a second and at the end. Where something is held that cannot be counted (descriptors in flight), all that
   * the disk has lost since the command began counts. A command may run in a workspace that is larger already, but not add to it. @default 4 GiB
   */
  workspace_bytes: number;
}

/** A command's way out of the sandbox. `EgressProxy` is one. */
export interface CommandEgress {
  /** What the command's environment needs to find the proxy on this port of its loopback. */
  environment(port: number): Record<string, string>;
  /** Serves connections to a server that listens inside. Returns what closes it and ends its connections. */
  serve(server: Server): () => void;
}

/** Takes a command's output as it comes. */
export interface CommandOutput {
  /** The chunk's bytes are only good until it returns. What it throws ends the command, and is thrown by `run`. */
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

export interface Command {
  workspace: WorkspaceMount;
  /** A name under which `kill` finds it, from any worker of this host. Such a command stands still while `frozen` acts. */
  label?: string;
  /** Run as is; for a shell line use `['/bin/bash', '-c', line]`. */
  argv: readonly [string, ...string[]];
  /** Relative to the workspace root. @default '.' */
  cwd?: string;
  /** The command's whole environment, beside the sandbox's own PATH, HOME, LANG and TMPDIR, which it may replace. Names are identifiers. */
  env?: Readonly<Record<string, string>>;
  /** @default none: the sandbox has no network */
  egress?: CommandEgress;
  stdin?: string;
  limits?: Partial<Limits>;
  /** Where the output goes, instead of the result, whose streams are empty then. `output_bytes` does not bound it. */
  output?: CommandOutput;
  /** Called when the command begins to run. */
  onBegun?: () => void;
  /** Aborting kills the whole process tree. */
  signal: AbortSignal;
  /** Aborting asks all of it to end (SIGTERM), and kills what has not within 150 ms. */
  stop?: AbortSignal;
}

/** One output stream: the first and last 32 KiB when it was longer, decoded as UTF-8. */
export interface CapturedStream {
  text: string;
  bytes: number;
  truncated: boolean;
}

export type CommandEnd =
  /** `signal` is named when the exit code is 128 + its number, which is all that a shell and bubblewrap tell of a signal. */
  | { status: 'exited'; exit_code: number; signal: string | null }
  | { status: 'timed_out'; after_ms: number }
  /**
   * It passed a limit and was killed with all that it had started, or had ended by then. `limit` in the limit's own unit.
   * - memory: the kernel killed a process of it for want of memory, even if the others went on; or all of it was over the limit
   * - disk: it wrote most while the disk had less free space than `limit`, whatever its own limits were
   * - processes: it was refused new processes, and failed or did not give up
   */
  | {
      status: 'quota';
      quota: 'output' | 'cpu' | 'file_size' | 'memory' | 'workspace' | 'disk' | 'processes';
      limit: number;
    }
  /** `taken_over`: by `killAll` or `kill`, called by whoever it was. */
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

/** What a write requires of the file as it is now; the check and the write are one step. */
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
 * Files of one workspace, read and written by the tool host inside the sandbox. Paths are relative to the workspace root or start
 * with `/workspace`; a path whose real location is outside is refused with `EOUTSIDE`. Every failure is a `FileError`; a broken or
 * lying tool host is a `SandboxError` with `retryable: true`.
 */
export interface WorkspaceFiles {
  /** Follows links that stay inside, so its type is never `symlink`. */
  stat(path: string, signal?: AbortSignal): Promise<FileStat>;
  /** @param options.max_bytes bytes returned at most, up to 32 MiB. @default 10 MiB. @param options.offset @default 0 */
  read(path: string, options?: { max_bytes?: number; offset?: number }, signal?: AbortSignal): Promise<FileContent>;
  /**
   * Writes a temporary file and renames it, so a failed write leaves the old content whole. Keeps the mode of a file it replaces. At
   * most 32 MiB. An expectation that does not hold is EEXIST or ECHANGED.
   * @param options.parents create missing directories. @default true
   */
  write(
    path: string,
    data: Buffer,
    options: { expect: WriteExpectation; parents?: boolean },
    signal?: AbortSignal,
  ): Promise<{ bytes: number; created: boolean; sha256: string }>;
  /** Sorted by name in byte order. `total` counts all entries. @param options.limit at most 10_000, the default; fewer where their names take more than 1 MiB */
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
  /** Runs one command in a fresh sandbox. Resolves once the whole process tree is dead. Throws `SandboxError` when it could not be set up. */
  run(command: Command): Promise<CommandResult>;
  /** The files of a workspace; its tool host starts at the first call and ends when idle. */
  files(workspace: WorkspaceMount): WorkspaceFiles;
  /**
   * Kills every sandboxed process of this workspace on this host, those of other (dead, stopped or superseded) workers included.
   * Called before a workspace is restored, so that nothing of an earlier attempt can still write to it.
   */
  killAll(workspaceId: string): Promise<void>;
  /** The same for the commands with this label alone. */
  kill(workspaceId: string, label: string): Promise<void>;
  /**
   * Acts while the workspace's commands with a label, on this host, stand still: SIGSTOP to every process of them, whichever worker
   * started it, and SIGCONT afterwards, whatever happened. One that is started meanwhile begins afterwards, so the act must not wait for
   * it. Tool hosts and commands without a label go on.
   *
   * - Calls for one workspace may overlap, in several workers of the host too: the last to end wakes them.
   * - Those that had stopped by themselves are woken as well.
   * - When the worker that acts dies, the worker that runs a command wakes it within a second. One that is itself stopped keeps
   *   them, and those that begin, until it goes on or `killAll`.
   * - The act gets the number of commands that were frozen; 0: nothing of them can run before it has ended.
   * - While they stand still their `wall_ms` goes on.
   *
   * Without such commands it costs 0.1 ms. Throws `SandboxError` EFREEZEFAILED when they cannot be stopped; nothing was done then.
   */
  frozen<Result>(workspaceId: string, act: (frozen: number) => Promise<Result>): Promise<Result>;
  [Symbol.asyncDispose](): Promise<void>;
}
