import type { Bounds } from './bounds/bounds.ts';
import type { DiffProcesses } from './host-git/diff-processes.ts';
import type { Git } from './host-git/git.ts';
import type { Logger } from './port/logger.ts';
import type { RemoteGit } from './port/remote-git.ts';
import type { Sharing } from './port/sharing.ts';
import type { Owner } from './port/workspaces.ts';
import type { Looks } from './run-folder/looks.ts';
import type { Serial } from './run-folder/serial.ts';
import type { Holder } from './run-folder/tree-head.ts';
import type { Checks } from './store/keyed/checks.ts';
import type { ScanLimits } from './tree/index.ts';
import type { RunStates } from './tree/run-state.ts';

export { errnoOf, unlessMissing, WorkspaceError } from './errors.ts';
export type {
  Call,
  Compared,
  DiffRequest,
  FileEntry,
  Materialised,
  MergeResult,
  Owner,
  Progress,
  PublishRequest,
  PublishResult,
  RecentCommit,
  RunSize,
  SkippedPath,
  Snapshot,
  SnapshotId,
  TreeListing,
  TreeState,
  Workspaces,
} from './port/workspaces.ts';
export type { RunFolder } from './run-folder/run-folder.ts';
export type { WorkspaceRecord } from './run-folder/workspace-record.ts';
export type { ObjectWriter } from './store/objects/object-writer.ts';

/** The dependencies of every operation of this package. */
export interface Deps {
  /** Real path of the data directory. */
  readonly dataDir: string;
  readonly git: Git;
  /** Where sources may lie and where a publish may write. */
  readonly bounds: Bounds;
  /** Undefined: this process cannot use remote repositories. */
  readonly remoteGit: RemoteGit | undefined;
  /** One fetch at a time per remote. */
  readonly fetching: Serial;
  readonly diffProcesses: DiffProcesses;
  readonly states: RunStates;
  readonly looks: Looks;
  readonly sharing: Sharing;
  /** What this process found in packs, and in files shared by trees. */
  readonly checks: Checks;
  /** Globs of the files that decide what `prepare` makes; undefined: all files do. */
  readonly preparedInputs: readonly string[] | undefined;
  readonly limits: Limits;
  readonly logger: Logger;
  /** This process, as tree heads name it. */
  readonly holder: Holder;
  readonly allocateOwner: (runId: string) => Promise<Owner> | Owner;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether this process can change the owner of files. */
  readonly isRoot: boolean;
  /** Called at named points between durable steps; see `WorkspacesOptions`. */
  readonly onPoint: (point: string) => void;
}

export interface Limits extends ScanLimits {
  /** No new work starts below this much free disk space, bytes. Snapshots and copies use at most half of it. 0: no limit. */
  freeBytes: number;
  /** All files of a source together, bytes. */
  sourceBytes: number;
  /** What `prepare` made and is kept for other runs, bytes. 0: nothing is. */
  preparedBytes: number;
  /** What runs of the same source share, bytes. 0: nothing. */
  poolBytes: number;
  /** Files shared by trees, without such a tree now, bytes. */
  layerBytes: number;
  /** How long the folders of unknown runs stay in the trash, milliseconds. */
  trashMs: number;
  /** Output of one diff or patch, bytes. */
  diffBytes: number;
  /** `diff` shows larger text files as binary; patches contain them in full. Bytes. */
  hunkBytes: number;
}
