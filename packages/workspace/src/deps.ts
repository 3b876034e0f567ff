import type { Bounds } from './bounds/bounds.ts';
import type { DiffProcesses } from './host-git/diff-processes.ts';
import type { Git } from './host-git/git.ts';
import type { Owner } from './port.ts';
import type { RunStates } from './run/run-state.ts';
import type { Holder } from './run/tree-head.ts';
import type { ScanLimits } from './tree/scan.ts';

/** What every verb of this package works with. */
export interface Deps {
  /** Real path of the data directory. */
  readonly dataDir: string;
  readonly git: Git;
  /** Where sources may lie and where a publish may write. */
  readonly bounds: Bounds;
  readonly diffProcesses: DiffProcesses;
  readonly states: RunStates;
  readonly limits: Limits;
  readonly logger: Logger;
  /** This process, as the heads of trees name it. */
  readonly holder: Holder;
  readonly allocateOwner: (runId: string) => Promise<Owner> | Owner;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether files can be given to another user. */
  readonly isRoot: boolean;
  /** Named moments between durable steps. */
  readonly onPoint: (point: string) => void;
}

export interface Limits extends ScanLimits {
  /** Free space of the disk below which no new work starts, bytes. Snapshots and copies use at most half of it. 0: all of the disk. */
  freeBytes: number;
  /** All files of a source together, bytes. */
  sourceBytes: number;
  /** How long the folders of unknown runs stay in the trash, milliseconds. */
  trashMs: number;
  /** Output of one diff or patch, bytes. */
  diffBytes: number;
  /** Text files larger than this are shown as binary in `diff`; patches hold them whole. Bytes. */
  hunkBytes: number;
}

/** The part of a pino logger that is used. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
