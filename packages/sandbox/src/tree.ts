import type { Readable, Writable } from 'node:stream';
import type { CapabilityReport, ProcessLimits } from '@holdpoint/contract';
import type { ProcessIdentity } from '@holdpoint/process';
import type { Usage } from './cgroup/cgroup-dir.ts';
import type { CgroupLimits } from './cgroup/cgroups.ts';
import type { CommandEgress, SpareCounts, WorkspaceMount } from './port.ts';
import type { WalkUnreadable } from './workspace-size/sizes.ts';

export { SandboxError } from './errors.ts';
export type { Command, HostProgram, ProgramProcess, Sandbox, WorkspaceMount } from './port.ts';

/** A host path, mounted read-only at a path inside. */
export interface ReadOnlyMount {
  host: string;
  inside: string;
}

/** A program for a driver to start. The driver ends the program together with all its descendants. */
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
  /** The command's input stays open for the worker, in the place of `stdin`. @default false */
  keepsInput?: boolean;
  /** The programs of a read-only command, in addition to the shells. @default all programs of the system */
  only?: readonly string[] | undefined;
  /** Size of /tmp. @default the driver's */
  tmpBytes?: number | undefined;
  /** Files shown to a program of Holdpoint, in addition to the files of commands. The program's stdin stays open. Null for a command. */
  hostFiles: readonly ReadOnlyMount[] | null;
  /** Called when the program begins to run. */
  onBegun?: () => void;
}

/** A running process tree. */
export interface Tree {
  /** Null for a command whose input does not stay open. */
  readonly stdin: Writable | null;
  /** A chunk is valid only until its listeners return. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Use so far, or in total after the end. Null where no control group counts the use. */
  usage(): Usage | null;
  /** Host pids of the known processes. */
  processes(): number[];
  /** False once the tree's first process has ended: earlier than `ended` resolves. True where that is not known. */
  isAlive(): boolean;
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
  /** Killed from outside before the program could report its end. The program may have run. */
  | { status: 'lost' }
  /** Ended by `killAll` of this worker or another worker of this host. */
  | { status: 'taken_over' };

/** Starts trees, and knows the paths inside. */
export interface Driver {
  readonly name: CapabilityReport['driver'];
  /** The driver enforces and counts these limits for whole commands. Null when there are none. */
  readonly cgroupLimits: CgroupLimits | null;
  start(request: TreeRequest): Tree;
  /** Resolves when no spare for the command is in its set-up: a start then need not do the same work once more. */
  prepared?(command: { workspace: WorkspaceMount; only?: TreeRequest['only'] }): Promise<void>;
  spares?(): SpareCounts;
  /** Processes left on this host by an interrupted set-up, of any workspace. */
  findOrphans(): ProcessIdentity[];
  /** Stops all programs of recorded trees, including children about to be started. Resolves when none runs. */
  freeze(trees: readonly (readonly ProcessIdentity[])[]): Promise<void>;
  /** Continues the programs, including programs stopped for another reason. */
  thaw(trees: readonly (readonly ProcessIdentity[])[]): Promise<void>;
  /** Measures a workspace whose directories an unprivileged worker may not read. */
  readonly walkUnreadable?: WalkUnreadable | undefined;
  /** Releases the resources kept for further trees. Call `release` when no tree runs any more. */
  release(): Promise<void>;
  /** Path of the workspace inside. */
  root(workspace: WorkspaceMount): string;
  /** Path inside of the whole texts of long results. */
  outputs(workspace: WorkspaceMount): string;
  /** Paths inside. */
  readonly node: string;
  readonly ripgrep: string;
  readonly toolHost: string;
  /** Directories mounted by the operator. */
  readonly toolchains: readonly string[];
  /** Files for a tool host, in addition to the files of commands. */
  readonly toolHostFiles: readonly ReadOnlyMount[];
  /** Path inside of a host file. The file is an entry of the program's `hostFiles`, or lies below an entry. */
  pathInside(path: string, files: readonly ReadOnlyMount[]): string;
}
