import type { Readable, Writable } from 'node:stream';
import type { CapabilityReport, ProcessLimits } from '@holdpoint/contract';
import type { ProcessIdentity } from '@holdpoint/process';
import type { CgroupLimits } from './cgroup/cgroups.ts';
import type { Usage } from './cgroup/control-files.ts';
import type { CommandEgress, SpareCounts, WorkspaceMount } from './port.ts';
import type { WalkUnreadable } from './workspace-size/sizes.ts';

export { SandboxError } from './errors.ts';
export type { Command, HostProgram, ProgramProcess, Sandbox, WorkspaceMount } from './port.ts';

/** A host path that is mounted read-only at a path inside. */
export interface ReadOnlyMount {
  host: string;
  inside: string;
}

/** One program for a driver to start. The driver ends it together with all its descendants. */
export interface TreeRequest {
  workspace: WorkspaceMount;
  /** Null for a command without a label. */
  label: string | null;
  argv: readonly [string, ...string[]];
  /** Normalised, relative to the workspace root. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Null without a network. */
  egress: CommandEgress | null;
  limits: ProcessLimits;
  /** Null for empty input. */
  stdin: string | null;
  /** The programs of a command that only reads, beside the shells. @default it sees all of the system */
  only?: readonly string[] | undefined;
  /** Size of /tmp. @default the driver's */
  tmpBytes?: number | undefined;
  /** What a program of Holdpoint sees beside what commands see. Its stdin stays open. Null for a command. */
  hostFiles: readonly ReadOnlyMount[] | null;
  /** Called when the program begins to run. */
  onBegun?: () => void;
}

/** A running process tree. */
export interface Tree {
  /** Null for a command. */
  readonly stdin: Writable | null;
  /** A chunk is valid only until its listeners return. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Use so far, or in total after the end. Null where nothing counts it. */
  usage(): Usage | null;
  /** Host pids of the known processes. */
  processes(): number[];
  /** SIGTERM to all processes. Kills a tree whose program has not begun. @returns false when nothing was left to end */
  terminate(): boolean;
  /** SIGKILL to all processes. Harmless after the end. */
  kill(): void;
  /** Resolves when the set-up is complete, or will not be. */
  readonly settled: Promise<void>;
  /** Resolves when no process runs any more and the streams are closed. Rejects with `SandboxError` when a process does not end. */
  readonly ended: Promise<TreeEnd>;
}

export type TreeEnd =
  | { status: 'exited'; exit_code: number; signal: string | null }
  /** The program never ran. `detail` is the operating system's reason. When null, the reason is on stderr. */
  | { status: 'setup_failed'; detail: string | null }
  /** Killed from outside before it could report its end. The program may have run. */
  | { status: 'lost' }
  /** Ended by `killAll` of this worker or another worker of this host. */
  | { status: 'taken_over' };

/** Starts trees, and knows the paths inside. */
export interface Driver {
  readonly name: CapabilityReport['driver'];
  /** ProcessLimits of whole commands that the driver claims to enforce and can count. Null when there are none. */
  readonly cgroupLimits: CgroupLimits | null;
  start(request: TreeRequest): Tree;
  /** Resolves when no spare for such a command is in its set-up: a start then need not do the same work once more. */
  prepared?(command: { workspace: WorkspaceMount; only?: TreeRequest['only'] }): Promise<void>;
  spares?(): SpareCounts;
  /** Processes that an interrupted set-up left on this host, of any workspace. */
  findOrphans(): ProcessIdentity[];
  /** Stops all programs of recorded trees, including children that they are about to start. Resolves when none runs. */
  freeze(trees: readonly (readonly ProcessIdentity[])[]): Promise<void>;
  /** Continues the programs, including those that were stopped for another reason. */
  thaw(trees: readonly (readonly ProcessIdentity[])[]): Promise<void>;
  /** Measures a workspace with directories that an unprivileged worker may not read. */
  readonly walkUnreadable?: WalkUnreadable | undefined;
  /** Releases what the driver keeps for further trees. Call it when none runs any more. */
  release(): Promise<void>;
  /** Path of the workspace inside. */
  root(workspace: WorkspaceMount): string;
  /** Paths inside. */
  readonly node: string;
  readonly ripgrep: string;
  readonly toolHost: string;
  /** Directories that the operator mounted. */
  readonly toolchains: readonly string[];
  /** What a tool host needs beside what commands see. */
  readonly toolHostFiles: readonly ReadOnlyMount[];
  /** Where a program sees a file of the host that is one of its `hostFiles`, or below one. */
  pathInside(path: string, files: readonly ReadOnlyMount[]): string;
}
