import type { Readable } from 'node:stream';
import type {
  ChangedRepository,
  Conflict,
  FileDiff,
  LeftOut,
  Published,
  PublishPlan,
  PublishTarget,
  Resolution,
  Source,
  UnknownContent,
} from '@holdpoint/contract';

/** A snapshot's id: the hex SHA-1 of a commit in the run's shadow repository. */
export type SnapshotId = string;

/** Host uid and gid that own the tree. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * A path that a snapshot left out; restore and publish leave it alone. Here and in diffs a path is relative to the workspace; one
 * that is not UTF-8 is quoted as git does: `"caf\\351"`.
 */
export interface SkippedPath {
  path: string;
  reason: 'too_large' | 'socket' | 'fifo' | 'device' | 'unreadable';
}

export interface Snapshot {
  id: SnapshotId;
  parent: SnapshotId | null;
  /** Paths whose content, mode or presence differs from the parent. */
  files_changed: number;
  skipped: SkippedPath[];
}

/** How far a copy has come. */
export interface Progress {
  files: number;
  bytes: number;
}

export interface Materialised extends Snapshot {
  /** The snapshot that the change set is counted from: `id` itself, or of a fork the base of the run it was forked from. */
  base: SnapshotId;
  owner: Owner;
  /** Regular files of the copy, and their bytes. */
  files: number;
  bytes: number;
  /** Commit that a git source was pinned to; null for other sources. */
  base_commit: string | null;
  /** Submodules of a git source: empty folders in the workspace, never followed. */
  submodules: { path: string; commit: string }[];
}

/** A file of a snapshot. */
export interface FileEntry {
  path: string;
  /** git mode: 100644, 100755 or 120000. */
  mode: string;
  /** Hex SHA-1 of the git blob. */
  oid: string;
  bytes: number;
}

/** `moved`: the source is no longer as the plan with that digest saw it; nothing was changed. */
export type PublishResult =
  | { status: 'published'; published: Published }
  | { status: 'conflict'; conflicts: Conflict[] }
  | { status: 'moved' };

export type MergeResult =
  /** `left_out`: paths of what the other run made or changed and no snapshot can hold. */
  | { status: 'merged'; snapshot: Snapshot; paths: string[]; left_out: string[] }
  | { status: 'conflict'; conflicts: { path: string; reason: string }[] };

export interface PublishRequest {
  runId: string;
  snapshot: SnapshotId;
  target: PublishTarget;
  /** @default none */
  resolutions?: readonly Resolution[];
}

/**
 * Whether a tree is what the log says. `other_boot`: the machine was started again, so what was written last may be lost. `log_went_back`:
 * the tree was written by a later step than the log knows of. `tree_changed`: the files are not those of the snapshot.
 */
export type TreeState =
  | { status: 'sound' }
  | { status: 'lost'; reason: 'other_boot' | 'log_went_back' | 'tree_changed'; detail: string };

export interface DiffRequest {
  runId: string;
  from: SnapshotId;
  to: SnapshotId;
  /** A file or a folder. */
  path?: string;
  /** With what the ignore rules of a git source match. @default false */
  includeIgnored?: boolean;
}

export interface Compared {
  /** Sorted by path. `unknown`: at least one of the two does not hold the content. */
  changes: { path: string; change: 'added' | 'modified' | 'deleted' | 'unknown' }[];
  total: number;
}

/** Bytes on disk. Files that several runs share (forks) are counted once per run. */
export interface RunSize {
  run_id: string;
  tree_bytes: number;
  shadow_bytes: number;
  snapshots: number;
}

/**
 * Staging workspaces of this host. Every method is idempotent and safe to call again after the process died in the middle of it.
 * Failures are `WorkspaceError`s with a stable code and `retryable`.
 */
export interface Workspaces {
  /**
   * Refuses a source that cannot be used, without side effects: missing, not a directory, not a repository, unknown ref, inside the
   * data directory.
   */
  check(source: Source): Promise<void>;
  /**
   * Copies the source into the run's private tree and takes the first snapshot. Never touches the source. The source's `.git` entries are
   * not copied; the tree gets a repository of ours. Snapshots hold `.git` entries beside the files; no publish brings them. A submodule is an empty folder.
   * @param input.onProgress called now and then while files are copied; never after the promise has settled
   */
  materialise(input: {
    runId: string;
    source: Source;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
  }): Promise<Materialised>;
  /**
   * Makes a run's workspace out of a snapshot of another run: same source, same base, so that it can be published just the same.
   * The other run may go on or be discarded afterwards. What no snapshot can hold (`skipped`) is not there.
   * Throws `EWORKSPACEMISSING` or `ESNAPSHOTUNKNOWN` about the other run.
   */
  fork(input: {
    runId: string;
    from: { runId: string; snapshot: SnapshotId };
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
  }): Promise<Materialised>;
  /**
   * The tree's host path and owner. Throws `EWORKSPACEMISSING` when the run was never materialised, or was discarded, and `ELEASESTALE`
   * when the tree of that epoch is not the newest, as do all that take an epoch.
   */
  locate(input: { runId: string; epoch: number }): Promise<{
    path: string;
    owner: Owner;
    /** Of the repository at `.git` in the tree: host folders of what no command may change, and of the base commit's objects. */
    repository: { fixed: string; objects: string };
  }>;
  /**
   * Whether the tree may be used: it is the one that the log names, and what the log says of it is true. Cheap while the process that
   * last wrote to it is alive; the first look of another process compares every file with the snapshot.
   * @param input.writer the writer that the log names last; empty: none since the tree was made
   * @param input.isShared a background command may be changing the files now: they are not compared
   */
  inspect(input: {
    runId: string;
    epoch: number;
    writer: string;
    snapshot: SnapshotId;
    isShared: boolean;
  }): Promise<TreeState>;
  /**
   * Lets a writer (an attempt, a background command) at the tree, once the log has recorded it and before it changes anything.
   * Throws `EHEADMOVED` when the tree was given to any other writer than `after` names.
   */
  admit(input: { runId: string; epoch: number; after: string; writer: string }): Promise<void>;
  /** The highest epoch that a tree of the run has or had; 0: there never was one. */
  newestEpoch(runId: string): Promise<number>;
  /**
   * Commits the tree as it is. No process may be writing to it. Nothing changed → the parent itself, with `files_changed: 0`; when
   * only empty folders or skipped paths changed it is a new snapshot with `files_changed: 0`. Taken again after a crash it has the
   * same id. Somebody writing → `EWORKSPACEBUSY`.
   * @param input.paths known changed paths (file tools); absent → walk the tree (commands)
   * @param input.isShared background commands stand still meanwhile and will continue: they may have files mapped, and change them without a
   * trace in their time stamps. @default false
   */
  snapshot(input: {
    runId: string;
    epoch: number;
    parent: SnapshotId;
    message: string;
    paths?: readonly string[];
    isShared?: boolean;
  }): Promise<Snapshot>;
  /** What differs between two snapshots of a run, by path, what no snapshot holds included. @param input.most how many changes are named */
  compare(input: { runId: string; from: SnapshotId; to: SnapshotId; most: number }): Promise<Compared>;
  /**
   * Brings the tree to a snapshot, empty folders included; what no snapshot knows is removed. Paths that a snapshot of the run
   * noted as skipped are left alone. A tree that was dropped is made again, under the same epoch.
   */
  restore(input: { runId: string; epoch: number; snapshot: SnapshotId }): Promise<void>;
  /**
   * Makes a new tree at a snapshot, with a higher epoch than any before, and retires the older ones: whoever still works on one of them,
   * or is frozen in the middle of that, changes nothing of the new one. What no snapshot can hold is moved over.
   * After a crash it is called again with a higher epoch yet.
   */
  takeOver(input: { runId: string; epoch: number; snapshot: SnapshotId; signal?: AbortSignal }): Promise<void>;
  /**
   * Brings what another run changed since `from.base`, a snapshot of this run that it began with, into this run, whose tree is at
   * `parent`: all of it as one snapshot, or nothing.
   * @param input.isShared as of `snapshot`
   */
  merge(input: {
    runId: string;
    epoch: number;
    parent: SnapshotId;
    from: { runId: string; snapshot: SnapshotId; base: SnapshotId };
    message: string;
    isShared?: boolean;
  }): Promise<MergeResult>;
  /** For reading: text that is not UTF-8 has replacement characters, large text is shown as binary. */
  diff(input: DiffRequest): Promise<{ files: FileDiff[]; left_out: LeftOut[] }>;
  /** A patch that `git apply` accepts, binary files and mode changes included; UTF-8. Without what is left out of a publish. */
  patch(input: DiffRequest): Promise<Buffer>;
  /** What no snapshot can hold, as it was at a snapshot. @param input.since only what was not the same at that one */
  unknown(input: { runId: string; snapshot: SnapshotId; since?: SnapshotId; path?: string }): Promise<UnknownContent[]>;
  /** The `.git` entries that differ between two snapshots, with their configurations. */
  repositories(input: { runId: string; snapshot: SnapshotId; since: SnapshotId }): Promise<ChangedRepository[]>;
  /** The files of a snapshot whose content it holds, in byte order of their paths. `path`: a file or a folder. */
  files(input: { runId: string; snapshot: SnapshotId; path?: string }): Promise<FileEntry[]>;
  /**
   * The content of one file; of a link, its target. Throws `EPATHMISSING` when the snapshot has no file there, and `ECONTENTUNKNOWN` when there
   * was one that no snapshot can hold.
   */
  read(input: { runId: string; snapshot: SnapshotId; path: string }): Promise<FileEntry & { content: Readable }>;
  /**
   * The files of a snapshot as an archive, byte for byte as they are.
   * @param input.paths only these files; absent: all of them
   */
  archive(input: {
    runId: string;
    snapshot: SnapshotId;
    format: 'tar.gz' | 'zip';
    paths?: readonly string[];
  }): Promise<Readable>;
  /**
   * What publishing base..snapshot would do now. Leaves the source as it is, but for a publish that died half-way, which is finished. An empty or archive source → `ENOTPUBLISHABLE`;
   * a branch name that git refuses → `EBRANCHINVALID`.
   */
  planPublish(request: PublishRequest): Promise<PublishPlan>;
  /**
   * Does what the plan said, all or nothing: a compare-and-set on a branch of a git source, or a journaled roll-forward of a
   * directory. A conflict leaves the source as it was, also one that is met half-way. A call after a crash first finishes what was begun,
   * and tells what was published when it was.
   * @param request.expect digest of the plan
   */
  publish(request: PublishRequest & { expect: string }): Promise<PublishResult>;
  /** Removes the run's tree and shadow repository. A publish that was interrupted is finished first. */
  discard(runId: string): Promise<void>;
  /** Whether the run's tree is there: not before it is materialised, and not after it was dropped. */
  hasTree(runId: string): Promise<boolean>;
  /**
   * Removes the tree of an ended run. Its snapshots stay, so it can still be read, compared, forked and published. What no snapshot holds
   * (skipped paths) is gone.
   * @param input.epoch not lower than the tree's: older ones are stale from then on
   */
  dropTree(input: { runId: string; epoch: number }): Promise<void>;
  /** What every run's workspace takes, largest first. */
  sizes(): Promise<RunSize[]>;
  /** Brings a run's objects together in one pack and removes what no snapshot needs. Never a snapshot. */
  collect(runId: string): Promise<void>;
  /**
   * Finishes discards and take-overs that were interrupted, removes folders that were made in vain, moves folders of unknown runs to
   * `<dataDir>/trash`, and removes what has been there for `limits.trashMs`.
   * @param input.isKnown asked about a run whose folder is older than an hour: whether it has, or may get, a workspace
   * @returns run ids whose folders were moved to the trash
   */
  tidy(input: { isKnown: (runId: string) => Promise<boolean> }): Promise<string[]>;
  /** Removes what processes of this host were making when they died. Cheap; for a process that starts. */
  removeDeadMakers(): Promise<void>;
}
