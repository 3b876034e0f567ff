import type { Readable, Writable } from 'node:stream';
import type { Limits, WorkspaceMount } from './port.ts';
import type { ProcessIdentity } from './process/identity.ts';

/** What a driver starts: one program and all that it starts, ended as one. */
export interface TreeRequest {
  workspace: WorkspaceMount;
  argv: readonly [string, ...string[]];
  /** Normalised, relative to the workspace root. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  limits: Limits;
  /** False gives an empty stdin. */
  stdin: boolean;
  /** Also mounts what the tool host needs. */
  toolHost: boolean;
}

/** A running process tree. */
export interface Tree {
  /** Null without `stdin: true`. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** SIGKILL to all of it, at once; harmless when it has ended. */
  kill(): void;
  /** Resolves when no process of it runs any more and its streams are closed. Rejects with `SandboxError` when that cannot be made so. */
  readonly ended: Promise<TreeEnd>;
}

export type TreeEnd =
  | { status: 'exited'; exit_code: number; signal: string | null }
  /** Its program never ran. `detail` says why where the operating system told us; else the reason is on stderr. */
  | { status: 'setup_failed'; detail: string | null }
  /** Killed from outside before it could say how it ended; it may have run. */
  | { status: 'lost' }
  /** Ended by `killAll`, possibly called by another worker of this host. */
  | { status: 'taken_over' };

/** A driver's way to start trees, and where things are inside. */
export interface Driver {
  readonly name: 'bubblewrap' | 'none';
  start(request: TreeRequest): Tree;
  /** Processes of this host that only an interrupted set-up can have left, of whatever workspace. */
  findOrphans(): ProcessIdentity[];
  /** Where the workspace is, as its processes see it. */
  root(workspace: WorkspaceMount): string;
  /** Paths as seen by processes of the driver. */
  readonly node: string;
  readonly ripgrep: string;
  readonly toolHost: string;
}
