import type { Readable, Writable } from 'node:stream';
import type { CapabilityReport } from '@holdpoint/contract';
import type { ProcessIdentity } from '@holdpoint/process';
import type { Held } from './cgroup/cgroups.ts';
import type { Usage } from './cgroup/files.ts';
import type { CommandEgress, Limits, WorkspaceMount } from './port.ts';
import type { WalkClosed } from './workspace-size/sizes.ts';

/** What a driver starts: one program and all that it starts, ended as one. */
export interface TreeRequest {
  workspace: WorkspaceMount;
  /** Null without. */
  label: string | null;
  argv: readonly [string, ...string[]];
  /** Normalised, relative to the workspace root. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Null without network. */
  egress: CommandEgress | null;
  limits: Limits;
  /** What it reads; null is nothing. */
  stdin: string | null;
  /** Also mounts what the tool host needs, and gives it a stdin that stays open instead. */
  toolHost: boolean;
  /** Called when it begins to run. */
  onBegun?: () => void;
}

/** A running process tree. */
export interface Tree {
  /** Of a tool host; null otherwise. */
  readonly stdin: Writable | null;
  /** A chunk's bytes are only good until its listeners return. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What it used so far, or in all when it has ended. Null where nothing counts it. */
  usage(): Usage | null;
  /** Host pids of its processes, as far as they are known. */
  processes(): number[];
  /** SIGTERM to all of it; one that has not begun is killed. */
  terminate(): void;
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
  readonly name: CapabilityReport['driver'];
  /** Bounds of whole commands that it says the kernel keeps, and can count. Null when it has none. */
  readonly held: Held | null;
  start(request: TreeRequest): Tree;
  /** Processes of this host that only an interrupted set-up can have left, of whatever workspace. */
  findOrphans(): ProcessIdentity[];
  /** Stops the programs of recorded trees, what they are about to start included; resolves when none runs. */
  freeze(trees: readonly (readonly ProcessIdentity[])[]): Promise<void>;
  /** Lets them go on, those that were stopped otherwise too. */
  thaw(trees: readonly (readonly ProcessIdentity[])[]): Promise<void>;
  /** Counts a workspace with directories that are closed to the worker, where the worker is not root. */
  readonly walkClosed?: WalkClosed;
  /** Gives back what it keeps for further trees, when none runs any more. */
  release(): Promise<void>;
  /** Where the workspace is, as its processes see it. */
  root(workspace: WorkspaceMount): string;
  /** Paths as seen by processes of the driver. */
  readonly node: string;
  readonly ripgrep: string;
  readonly toolHost: string;
}
