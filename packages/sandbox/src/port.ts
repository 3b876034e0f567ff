import type { Server } from 'node:net';
import type { Writable } from 'node:stream';
import type * as contract from '@holdpoint/contract';

export { SandboxError } from './errors.ts';

/** A workspace: one host directory, mounted read-write at `/workspace`. No other files of the host are writable inside. */
export interface WorkspaceMount {
  /** The run's id. Each id has one tool host. */
  id: string;
  /** Absolute host path of the tree. */
  path: string;
  /** The tree's owner on the host. On a root host the sandbox runs as this uid and gid. Elsewhere they are the worker's own. */
  uid: number;
  gid: number;
  /** Nothing inside can change the workspace. @default false */
  readOnly?: boolean;
  /**
   * Set when the workspace has Holdpoint's repository at `.git`. The entries of `fixed` are mounted read-only over the same names in
   * `.git`, and `objects`, the repository's base objects, at `/holdpoint/objects`. Absolute host paths.
   */
  repository?: { fixed: string; objects: string };
  /**
   * Folders of the workspace's source, mounted read-only over empty folders at the same paths. A sandbox with another folder at such a
   * path is not begun: ESANDBOXSETUP. @default none
   */
  sourceFolders?: readonly contract.SourceFolder[];
  /** Absolute host path of a folder to mount read-only at `outputsFolder`. @default none */
  outputs?: string | undefined;
  /** Runtimes for commands to find first: folders on PATH before all others, and links by name, before these. @default none */
  first?: { bins: readonly string[]; links: readonly (readonly [name: string, target: string])[] } | undefined;
}

/** A language's runtime, visible in sandboxes. */
export interface Runtime {
  language: 'node' | 'python';
  /** Path inside. */
  path: string;
  version: string;
  /** Commands find this runtime when no other runtime is chosen. */
  isFirst: boolean;
  /** Holdpoint's own Node. Commands find this Node last. */
  isOwn?: true;
}

/** A command's way out of the sandbox, implemented by `EgressProxy`. */
export interface CommandEgress {
  /** Variables to lead the command to the proxy on this port of its loopback. */
  environment(port: number): Record<string, string>;
  /** Certificates in PEM for the command's programs to trust; undefined: the system's certificates. */
  readonly certificates?: string | undefined;
  /** Serves connections to a server listening inside. Returns a function to close the server and its connections. */
  serve(server: Server): () => void;
}

/** Receives a command's output on arrival. */
interface CommandOutput {
  /** The chunk is valid only until this returns. An error ends the command, and `run` throws the error. */
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

/** Changes bytes as they arrive, and may hold some until more arrive. */
interface OutputFilter {
  push(chunk: Buffer): Buffer;
  /** Returns the held bytes after a second without output. */
  rest?(): Buffer;
  end(): Buffer;
}

export interface Command extends contract.CommandRequest {
  workspace: WorkspaceMount;
  /** `kill` on any worker of this host finds the command by its label. `withFrozen` freezes commands with a label. */
  label?: string;
  /** @default none: no network */
  egress?: CommandEgress;
  /** Receives the output. The streams of the result are then empty, and `output_bytes` does not apply. */
  output?: CommandOutput;
  /**
   * Called with the command's open input, in the place of `stdin`. `isAlive` is false once the command has ended, which shows before its result.
   * @default the input is `stdin`
   */
  input?: (stdin: Writable, command: { isAlive(): boolean }) => void;
  /** The command runs in a terminal of this size: its output is one stream, stdout, and `TERM` is `dumb`. Needs perl on the host, and `input`. */
  terminal?: { columns: number; rows: number };
  /** Receives the same bytes as well, as they arrive. The watcher must not fail. */
  watch?: CommandOutput | undefined;
  /**
   * Opens a filter for stdout or stderr: the filter's bytes are captured, or written to `output`, instead of the command's own.
   * `over_output` counts the bytes before the filter.
   */
  filter?: () => OutputFilter;
  /**
   * The command only reads: its tree is read-only, the network is off, and PATH has no program but the shells and these names. No file of
   * the tree, and no file written by the command, can be started. Only where `walls` is true.
   */
  only?: readonly string[] | undefined;
  /** Size of /tmp inside, in bytes of memory. They count as the command's memory. @default the sandbox's size */
  tmp_bytes?: number;
  /** Called when the command begins to run. */
  onBegun?: () => void;
  /** Aborting kills the whole process tree. */
  signal: AbortSignal;
  /** Aborting sends SIGTERM to the whole process tree, and SIGKILL after 150 ms, on a busy host after at most a second. */
  stop?: AbortSignal;
}

export interface Search extends contract.SearchRequest {
  workspace: WorkspaceMount;
  /** Like the filter of a command. */
  filter?: () => OutputFilter;
  /** Aborting kills the search. */
  signal: AbortSignal;
}

/**
 * A program of Holdpoint for work on bytes of a run, sent by the worker. The program runs in a sandbox without a network and without the
 * run's files, because hostile bytes may take the program over.
 */
export interface HostProgram {
  /** The program's name in errors. */
  name: string;
  /** Host path of the main file, run by Node. An entry of `files` holds the main file. */
  main: string;
  /** Options of Node. */
  nodeOptions?: readonly string[];
  /** Absolute host paths of files and directories, and their paths inside. */
  files: readonly { host: string; inside: string }[];
  memory_bytes: number;
  /** More limits of its process tree. @default 64 processes, and no file larger than a byte */
  limits?: Pick<Partial<contract.ProcessLimits>, 'processes' | 'file_bytes'>;
  /** The longest line of an answer. */
  maxLineBytes: number;
  /** The program ends after this many milliseconds without a request. */
  idleMs: number;
}

/** A running program. Each request gets a line as its answer, in the order of the requests. */
export interface ProgramProcess {
  /** False once the program has ended or is about to. Callers then start another program. */
  readonly usable: boolean;
  /**
   * Sends a line of JSON, with the length of the content in `bytes`, and then the content. Resolves to the answer's line, unparsed.
   * Rejects with `SandboxError` EPROGRAMLOST when the program ends first, or EPROGRAMTIMEOUT when this very request took longer than
   * `timeoutMs` without an answer. A program is killed when its answers break the protocol: EPROGRAMVIOLATION.
   */
  request(header: object, content: Uint8Array, options: { timeoutMs: number }): Promise<Buffer>;
  close(): Promise<void>;
}

/** This worker's spares, counted by their fate. */
export interface SpareCounts {
  /** Spares waiting now. */
  waiting: number;
  /** Commands started in a spare. */
  used: number;
  /** Spares ended without a command. */
  dropped: number;
}

/** A host's isolation, probed at boot. */
export interface Sandbox extends AsyncDisposable {
  readonly capabilities: contract.CapabilityReport;
  /** Sandboxes prepared for the next command of a workspace. */
  readonly spares: SpareCounts;
  /** Whether the kernel can hold a command to reading (`Command.only`). */
  readonly walls: boolean;
  /** Path of the bundled ripgrep inside the sandbox. */
  readonly ripgrep: string;
  /**
   * The runtimes visible in sandboxes: on the PATH of commands, in version managers' directories, and Holdpoint's own Node. A command
   * inside asks for the versions, once per worker.
   */
  runtimes(run: Pick<WorkspaceMount, 'id' | 'uid' | 'gid'>): Promise<readonly Runtime[]>;
  /** Runs a command in a fresh sandbox. Resolves once the whole process tree has ended. Throws `SandboxError` when the set-up fails. */
  run(command: Command): Promise<contract.CommandResult>;
  /**
   * Searches the contents of files with ripgrep, a child of the workspace's tool host in the same sandbox. Two searches of a workspace run
   * at once, each with at most 640 MiB of memory. Throws `FileError` for a path missing from the workspace or outside.
   */
  search(search: Search): Promise<contract.SearchResult>;
  /** The files of a workspace. Its tool host starts at the first call and ends when idle. */
  files(workspace: WorkspaceMount): contract.WorkspaceFiles;
  /** Starts a program of Holdpoint for a run. `killAll` of the run kills the program. Node needs 60 ms to start inside. */
  start(run: Pick<WorkspaceMount, 'id' | 'uid' | 'gid'>, program: HostProgram): ProgramProcess;
  /**
   * Starts a program of Holdpoint that reads the tree of a run at `/workspace`, and starts programs of the tree. Neither can write to the tree, and
   * neither has a network. `killAll` of the run kills both. @throws SandboxError ECOMMANDINVALID without isolation
   */
  serve(workspace: WorkspaceMount, program: HostProgram): ProgramProcess;
  /**
   * Kills every sandboxed process of this workspace on this host, including processes of other (dead, stopped or superseded) workers.
   * Called before a workspace is restored, so no process of an earlier attempt can still write to the tree.
   */
  killAll(workspaceId: string): Promise<void>;
  /** Like `killAll`, for the commands with this label only. */
  kill(workspaceId: string, label: string): Promise<void>;
  /**
   * Runs an action while the workspace's commands with a label are frozen on this host: SIGSTOP to all their processes, whichever worker
   * started them, and always SIGCONT afterwards. A command started during the action begins afterwards, so the action must not wait for
   * such commands. Tool hosts and commands without a label keep running.
   *
   * - Calls for the same workspace may overlap, also in several workers of the host. The last to end thaws the commands.
   * - Processes stopped before the action continue as well.
   * - When the acting worker dies, each command's own worker thaws the command within a second. While the acting worker is stopped,
   * commands stay frozen, and new commands wait, until the worker continues or `killAll` is called.
   * - The action gets the number of frozen commands. With 0, no labelled command can run before the action has ended.
   * - The `wall_ms` of a frozen command keeps running.
   *
   * A call without labelled commands costs 0.1 ms. Throws `SandboxError` EFREEZEFAILED, without running the action, when a process does not
   * stop.
   */
  withFrozen<Result>(workspaceId: string, action: (frozen: number) => Promise<Result>): Promise<Result>;
  [Symbol.asyncDispose](): Promise<void>;
}
