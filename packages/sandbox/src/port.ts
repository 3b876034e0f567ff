import type { Server } from 'node:net';
import type {
  CapabilityReport,
  CommandRequest,
  CommandResult,
  SearchRequest,
  SearchResult,
  SourceFolder,
  WorkspaceFiles,
} from '@holdpoint/contract';

export { SandboxError } from './errors.ts';

/** A workspace: one host directory, mounted read-write at `/workspace`. No other files of the host are writable inside. */
export interface WorkspaceMount {
  /** The run's id. Each id has one tool host. */
  id: string;
  /** Absolute host path of the tree. */
  path: string;
  /** Host uid and gid that own the tree. On a root host the sandbox runs as these. Elsewhere they are the worker's own. */
  uid: number;
  gid: number;
  /** Nothing inside can change the workspace. @default false */
  readOnly?: boolean;
  /**
   * Set when the workspace has Holdpoint's repository at `.git`. The entries of `fixed` are mounted read-only over the same names in it, and
   * `objects`, its base objects, at `/holdpoint/objects`. Absolute host paths.
   */
  repository?: { fixed: string; objects: string };
  /**
   * Folders of its source, mounted read-only over empty folders at the same paths. A sandbox that would have another folder there is not
   * begun: ESANDBOXSETUP. @default none
   */
  sourceFolders?: readonly SourceFolder[];
  /** Runtimes that its commands find first: folders on PATH before all others, and links by name, before these. @default none */
  first?: { bins: readonly string[]; links: readonly (readonly [name: string, target: string])[] } | undefined;
}

/** A runtime of a language that sandboxes see. */
export interface Runtime {
  language: 'node' | 'python';
  /** Path inside. */
  path: string;
  version: string;
  /** Commands find it when nothing else is chosen. */
  isFirst: boolean;
  /** Holdpoint's own Node, which commands find last. */
  isOwn?: true;
}

/** A command's way out of the sandbox, implemented by `EgressProxy`. */
export interface CommandEgress {
  /** Variables that lead the command to the proxy on this port of its loopback. */
  environment(port: number): Record<string, string>;
  /** Certificates in PEM that the command's programs have to trust; undefined: those of the system. */
  readonly certificates?: string | undefined;
  /** Serves connections to a server that listens inside. Returns a function that closes the server and its connections. */
  serve(server: Server): () => void;
}

/** Receives a command's output as it arrives. */
interface CommandOutput {
  /** The chunk is valid only until this returns. An error ends the command, and `run` throws it. */
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

/** Changes bytes as they arrive, and may hold some until more arrive. */
interface OutputFilter {
  push(chunk: Buffer): Buffer;
  /** Returns the held bytes after a second without output. */
  rest?(): Buffer;
  end(): Buffer;
}

export interface Command extends CommandRequest {
  workspace: WorkspaceMount;
  /** `kill` on any worker of this host finds the command by its label. `withFrozen` freezes commands with a label. */
  label?: string;
  /** @default none: no network */
  egress?: CommandEgress;
  /** Receives the output. The streams of the result are then empty, and `output_bytes` does not apply. */
  output?: CommandOutput;
  /** Receives the same bytes as well, as they arrive. It must not fail. */
  watch?: CommandOutput | undefined;
  /**
   * Opens a filter for stdout or stderr: what it returns is captured, or written to `output`, instead of what the command prints.
   * `over_output` counts what the command prints.
   */
  filter?: () => OutputFilter;
  /**
   * The command only reads: it sees its tree read-only, has no network, and finds no program but the shells and these, by the names of PATH. No
   * file of the tree and none that it writes can be started. Only where `walls` is true.
   */
  only?: readonly string[] | undefined;
  /** Size of /tmp inside, in bytes of memory, which count as the command's. @default that of the sandbox */
  tmp_bytes?: number;
  /** Called when the command begins to run. */
  onBegun?: () => void;
  /** Aborting kills the whole process tree. */
  signal: AbortSignal;
  /** Aborting sends SIGTERM to the whole process tree, and SIGKILL after 150 ms. */
  stop?: AbortSignal;
}

export interface Search extends SearchRequest {
  workspace: WorkspaceMount;
  /** As that of a command. */
  filter?: () => OutputFilter;
  /** Aborting kills the search. */
  signal: AbortSignal;
}

/**
 * A program of Holdpoint that works on bytes of a run that it is sent. It runs in a sandbox without a network and without the run's files,
 * because the bytes may be made to take it over.
 */
export interface HostProgram {
  /** What its errors call it. */
  name: string;
  /** Path on the host of its main file, which Node runs. One of `files` holds it. */
  main: string;
  /** Options of Node. */
  nodeOptions?: readonly string[];
  /** Absolute host paths of files and directories, and where it sees them. */
  files: readonly { host: string; inside: string }[];
  memory_bytes: number;
  /** The longest line that it may answer. */
  maxLineBytes: number;
  /** Milliseconds without a request after which it ends. */
  idleMs: number;
}

/** A running program: it answers each request with one line, in the order of the requests. */
export interface ProgramProcess {
  /** False once it has ended or is about to. Callers then start another one. */
  readonly usable: boolean;
  /**
   * Sends a line of JSON, with the number of bytes that follow in `bytes`, and the bytes. Resolves to the line of its answer, unparsed.
   * Rejects with `SandboxError` EPROGRAMLOST when it ends first, or EPROGRAMTIMEOUT when this very request took longer than `timeoutMs`
   * without an answer. A program that breaks the protocol is killed: EPROGRAMVIOLATION.
   */
  request(header: object, content: Uint8Array, options: { timeoutMs: number }): Promise<Buffer>;
  close(): Promise<void>;
}

/** What became of the spares of this worker. */
export interface SpareCounts {
  /** Spares that wait now. */
  waiting: number;
  /** Commands that got one. */
  used: number;
  /** Spares that ended without a command. */
  dropped: number;
}

/** One host's isolation, probed at boot. */
export interface Sandbox extends AsyncDisposable {
  readonly capabilities: CapabilityReport;
  /** Sandboxes that were prepared for the next command of a workspace. */
  readonly spares: SpareCounts;
  /** Whether the kernel can hold a command to reading (`Command.only`). */
  readonly walls: boolean;
  /** Path of the bundled ripgrep inside the sandbox. */
  readonly ripgrep: string;
  /** The runtimes that commands can find, with their versions. They are asked for it inside, once. */
  runtimes(run: Pick<WorkspaceMount, 'id' | 'uid' | 'gid'>): Promise<readonly Runtime[]>;
  /** Runs one command in a fresh sandbox. Resolves once the whole process tree has ended. Throws `SandboxError` when the set-up fails. */
  run(command: Command): Promise<CommandResult>;
  /**
   * Searches the contents of files with ripgrep, which the workspace's tool host starts: a child of it in the same sandbox. Two searches of a
   * workspace run at once, each with at most 640 MiB of memory. Throws `FileError` for a path that is missing or outside.
   */
  search(search: Search): Promise<SearchResult>;
  /** The files of a workspace. Its tool host starts at the first call and ends when idle. */
  files(workspace: WorkspaceMount): WorkspaceFiles;
  /** Starts a program of Holdpoint for a run. `killAll` of the run kills it. Node needs 60 ms to start in it. */
  start(run: Pick<WorkspaceMount, 'id' | 'uid' | 'gid'>, program: HostProgram): ProgramProcess;
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
