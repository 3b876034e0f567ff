import type { Readable } from 'node:stream';
import type * as contract from '@holdpoint/contract';

export { errnoOf, WorkspaceError } from '../errors.ts';

/** A snapshot's id: the hex SHA-1 of a commit in the run's shadow repository. */
export type SnapshotId = string;

/** Host uid and gid that own the tree. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * A path that a snapshot skipped; restore and publish keep it as it is. Paths are relative to the workspace, here and in diffs. A path
 * that is not UTF-8 is quoted as in git: `"caf\\351"`.
 */
export interface SkippedPath {
  path: string;
  reason: 'too_large' | 'socket' | 'fifo' | 'device' | 'unreadable';
}

/** Looks for what no object may hold. */
export interface ContentCheck {
  search(): { read(chunk: Uint8Array): void; found(): readonly string[] };
  /** A text without it. */
  text(text: string): string;
}

export interface Snapshot {
  id: SnapshotId;
  parent: SnapshotId | null;
  /** Paths whose content, mode or presence differs from the parent. */
  files_changed: number;
  skipped: SkippedPath[];
}

/** What a running copy has copied. */
export interface Progress {
  files: number;
  bytes: number;
}

export interface Materialised extends Snapshot {
  /** The snapshot that the change set is relative to: `id` itself; for a fork, the base of the run that it was forked from. */
  base: SnapshotId;
  /** Whether the files come from those that the commands of `prepare` left. */
  prepared: boolean;
  owner: Owner;
  /** Regular files of the copy, and their bytes. */
  files: number;
  bytes: number;
  /** Commit that a git source was pinned to; null for other sources. */
  base_commit: string | null;
  /** Submodules of a git source: empty folders in the workspace, never followed. */
  submodules: { path: string; commit: string }[];
  /** Files of a git source that are pointers of git-lfs, when there are any. */
  lfs_pointers?: contract.LfsPointers | undefined;
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

/** `moved`: the source has changed since the plan with that digest; nothing was published. */
export type PublishResult =
  | { status: 'published'; published: contract.Published }
  | { status: 'conflict'; conflicts: contract.Conflict[] }
  | { status: 'moved' };

export type MergeResult =
  /** `left_out`: paths that the other run created or changed and no snapshot can hold. */
  | { status: 'merged'; snapshot: Snapshot; paths: string[]; left_out: string[] }
  | { status: 'conflict'; conflicts: { path: string; reason: string }[] };

export interface PublishRequest {
  runId: string;
  snapshot: SnapshotId;
  target: contract.PublishTarget;
  /** @default none */
  resolutions?: readonly contract.Resolution[];
}

/**
 * Whether a tree matches the log. `other_boot`: the machine was rebooted, so the last writes may be lost. `log_went_back`: a step that the
 * log does not have wrote to the tree. `tree_changed`: the files differ from the snapshot.
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
  /** Whether to include files that the ignore rules of a git source match. @default false */
  includeIgnored?: boolean;
}

export interface Compared {
  /** Sorted by path. `unknown`: at least one snapshot does not hold the content. */
  changes: { path: string; change: 'added' | 'modified' | 'deleted' | 'unknown' }[];
  total: number;
}

/** What a snapshot holds, or what differs from an earlier one. */
export interface TreeListing {
  /** The snapshot that the entries are relative to; null: these are all of them. */
  since: SnapshotId | null;
  /** `oid`: hex SHA-1 of the git blob; null for a path that is no longer there. */
  entries: { path: string; oid: string | null; isLink: boolean }[];
}

/** A commit of a git source. Its subject is the text of a stranger. */
export interface RecentCommit {
  id: string;
  /** The committer's date, in seconds since 1970. */
  seconds: number;
  /** The first line of its message. */
  subject: string;
}

/** Bytes on disk. Files that several runs share (forks) count once per run. */
export interface RunSize {
  run_id: string;
  tree_bytes: number;
  shadow_bytes: number;
  snapshots: number;
}

/**
 * Staging workspaces of this host. Every method is idempotent and can be called again after the process died during a call. Failures are
 * `WorkspaceError`s with a stable code and `retryable`.
 */
export interface Workspaces {
  /**
   * Rejects an unusable source without side effects: missing, not a directory, not a repository, unknown ref, inside the data
   * directory, a remote whose host is not open. Contacts no remote.
   */
  check(source: contract.Source): Promise<void>;
  /**
   * Copies the source into the run's private tree and takes the first snapshot. Never changes the source. `.git` entries of the source are
   * not copied; the tree gets Holdpoint's own repository. Snapshots hold `.git` entries, and no publish includes them. A submodule becomes
   * an empty folder.
   * @param input.createdAt the time of all its snapshots, in milliseconds since 1970. @default now
   * @param input.onProgress called at intervals during the copy, never after the promise has settled
   */
  materialise(input: {
    runId: string;
    source: contract.Source;
    /** Whose secrets the credentials of a remote source are. */
    tenant?: string | undefined;
    createdAt?: number | undefined;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
  }): Promise<Materialised>;
  /**
   * Creates a run's workspace from a snapshot of another run, with the same source and base, so that it can be published in the same way.
   * The other run can continue or be discarded afterwards. Skipped paths are absent.
   * Throws `EWORKSPACEMISSING` or `ESNAPSHOTUNKNOWN` about the other run.
   */
  fork(input: {
    runId: string;
    from: { runId: string; snapshot: SnapshotId };
    createdAt?: number | undefined;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
  }): Promise<Materialised>;
  /**
   * The tree's host path and owner. Throws `EWORKSPACEMISSING` when the run was never materialised or was discarded, and `ELEASESTALE` when
   * the tree of that epoch is not the newest, as do all methods with an epoch.
   */
  locate(input: { runId: string; epoch: number }): Promise<{
    path: string;
    owner: Owner;
    /** Host folders for the repository at `.git` in the tree: files that commands cannot change, and the base commit's objects. */
    repository: { fixed: string; objects: string };
    /** Folders of the source to mount read-only. Throws `ESOURCEFOLDERLOST` when one is gone. */
    sourceFolders: readonly contract.SourceFolder[];
    /** Host folder with the whole texts of long results, to be mounted read-only. */
    outputs: string;
    /** The snapshot that it started from. */
    base: SnapshotId;
  }>;
  /**
   * Keeps the whole text of a long result in the run's folder `outputs`: bounded in bytes, files and age, gone with the run, shared with
   * later forks. Nothing of it reaches a snapshot.
   * @param input.label begins the name of the file
   */
  keepOutput(input: { runId: string; label: string; text: string }): Promise<{ name: string }>;
  /**
   * Whether the tree is the one that the log names and matches what the log says. Cheap while the process that last admitted a writer is
   * alive; the first call of another process compares every file with the snapshot.
   * @param input.writer the last writer in the log; empty when none was admitted since the tree was created
   * @param input.isShared a background command may be changing the files, so they are not compared
   * @param input.forWriter a writer is about to be admitted: files that were not looked at for a while are compared, since changes by
   * other programs would count as changes of that writer. @default false
   */
  inspect(input: {
    runId: string;
    epoch: number;
    writer: string;
    snapshot: SnapshotId;
    isShared: boolean;
    forWriter?: boolean;
  }): Promise<TreeState>;
  /**
   * Admits a writer (an attempt, a background command) to the tree, after the log has recorded it and before it changes anything.
   * Throws `EHEADMOVED` when the last admitted writer is not `after`.
   */
  admit(input: { runId: string; epoch: number; after: string; writer: string }): Promise<void>;
  /** The highest epoch that a tree of the run has or had; 0 when there never was one. */
  newestEpoch(runId: string): Promise<number>;
  /**
   * Commits the current tree. No process may be writing to it, else it throws `EWORKSPACEBUSY`. Without a change it returns the parent with
   * `files_changed: 0`; when only empty folders or skipped paths changed, a new snapshot with `files_changed: 0`. Taken again after a crash
   * it has the same id.
   * @param input.paths known changed paths (file tools). @default the whole tree is walked (commands)
   * @param input.isShared background commands are frozen during the call and continue afterwards: they may have files mapped, and change
   * them without a trace in the times. @default false
   * @param input.forbids paths that may not differ from the parent. When one does, this throws `ForbiddenChange`: nothing is stored, and the
   * tree stays as it is. @default no path
   * @param input.check looks at every file that is new or has changed, and at its path. When it finds something, nothing is stored, and this
   * throws `ESECRETWRITTEN`
   */
  snapshot(input: {
    runId: string;
    epoch: number;
    parent: SnapshotId;
    message: string;
    paths?: readonly string[];
    forbids?: ((path: string) => boolean) | undefined;
    isShared?: boolean;
    check?: ContentCheck;
  }): Promise<Snapshot>;
  /** The paths that differ between two snapshots of a run, skipped ones included. @param input.most the maximum number of named changes */
  compare(input: { runId: string; from: SnapshotId; to: SnapshotId; most: number }): Promise<Compared>;
  /**
   * Restores the tree to a snapshot, empty folders included, and removes everything else except paths that a snapshot of the run skipped. A
   * dropped tree is built again under the same epoch.
   */
  restore(input: { runId: string; epoch: number; snapshot: SnapshotId }): Promise<void>;
  /**
   * Builds a new tree at a snapshot, with a higher epoch than any before, and retires the older ones: a process that still writes to one of
   * them, or is frozen in a write, cannot change the new tree. Skipped paths are moved over. After a crash, call it again with a still
   * higher epoch.
   */
  takeOver(input: { runId: string; epoch: number; snapshot: SnapshotId; signal?: AbortSignal }): Promise<void>;
  /**
   * Merges the changes of another run since `from.base`, the snapshot of this run that it started from, into this run, whose tree is at
   * `parent`: either all of them as one snapshot, or none.
   * @param input.isShared as in `snapshot`
   */
  merge(input: {
    runId: string;
    epoch: number;
    parent: SnapshotId;
    from: { runId: string; snapshot: SnapshotId; base: SnapshotId };
    message: string;
    isShared?: boolean;
  }): Promise<MergeResult>;
  /**
   * The digest of what decides what `prepare` makes: the source, its ref and its files, or the files that the operator names.
   * @param input.globs of the run, which add to the operator's
   */
  inputDigest(input: { runId: string; snapshot: SnapshotId; globs?: readonly string[] | undefined }): Promise<string>;
  /**
   * Brings the tree, which is at `parent`, to what an earlier run of the tenant kept under the key, and takes a snapshot; undefined when
   * there is nothing that fits. After a crash, take the tree over first.
   * @param input.forbids as in `snapshot`
   */
  applyPrepared(input: {
    runId: string;
    epoch: number;
    parent: SnapshotId;
    tenant: string;
    /** A SHA-256 digest in hex. */
    key: string;
    forbids?: ((path: string) => boolean) | undefined;
  }): Promise<(Snapshot & { made_from?: contract.PreparedFrom | undefined }) | undefined>;
  /**
   * Keeps what differs between two snapshots for other runs of the tenant: the first one wins. Unless the operator names inputs, only runs
   * with the same files may use them.
   * @returns whether it was kept: no `.git` entries and no skipped paths can be
   */
  keepPrepared(input: {
    runId: string;
    tenant: string;
    key: string;
    from: SnapshotId;
    to: SnapshotId;
  }): Promise<boolean>;
  /** Records the snapshot that `prepare` left: diffs and publishes leave out what it made. */
  markPrepared(input: { runId: string; snapshot: SnapshotId }): Promise<void>;
  /** How much is kept for other runs, and how much may be, in bytes. */
  prepared(): Promise<{ entries: number; bytes: number; most: number }>;
  /** Keeps a snapshot that a call made on a fork of this run until it is applied or dropped. The fork may be discarded afterwards. */
  keepPreview(input: { runId: string; from: { runId: string; snapshot: SnapshotId } }): Promise<void>;
  /**
   * Brings the tree, which is at the parent of the preview, to a kept preview, which becomes a snapshot of the run. After a crash, call it
   * again. Throws `ESNAPSHOTUNKNOWN` when it was dropped.
   * @param input.isShared as in `snapshot`
   */
  applyPreview(input: { runId: string; epoch: number; snapshot: SnapshotId; isShared?: boolean }): Promise<void>;
  /** Drops kept previews: this one, or all of the run. */
  dropPreviews(input: { runId: string; snapshot?: SnapshotId }): Promise<void>;
  /** For reading: text that is not UTF-8 has replacement characters, large text is shown as binary. */
  diff(input: DiffRequest): Promise<{ files: contract.FileDiff[]; left_out: contract.LeftOut[] }>;
  /** The same without the lines, and without a bound on the size of the change set. */
  diffStat(input: DiffRequest): Promise<{ files: contract.FileCounts[]; left_out: contract.LeftOut[] }>;
  /** A patch that `git apply` accepts, with binary files and mode changes; UTF-8. Omits what a publish leaves out. */
  patch(input: DiffRequest): Promise<Buffer>;
  /** The skipped paths of a snapshot, in their state at that time. @param input.since only those that differed at that snapshot */
  unknown(input: {
    runId: string;
    snapshot: SnapshotId;
    since?: SnapshotId;
    path?: string;
  }): Promise<contract.UnknownContent[]>;
  /** The `.git` entries that differ between two snapshots, with their configurations. */
  repositories(input: {
    runId: string;
    snapshot: SnapshotId;
    since: SnapshotId;
  }): Promise<contract.ChangedRepository[]>;
  /** The files of a snapshot whose content it holds, in byte order of their paths. `path`: a file or a folder. */
  files(input: { runId: string; snapshot: SnapshotId; path?: string }): Promise<FileEntry[]>;
  /**
   * The paths of a snapshot with the ids of their contents, in no order. Takes no process and no time to speak of for a snapshot that this
   * process has in memory, such as the last one that it took.
   * @param input.since snapshots that the caller knows: the answer may be relative to one of them
   */
  listing(input: { runId: string; snapshot: SnapshotId; since?: readonly SnapshotId[] }): Promise<TreeListing>;
  /** The paths that ignore rules in the files of a snapshot match, for a reader: rules that take seconds match nothing. */
  ignored(input: {
    runId: string;
    snapshot: SnapshotId;
    paths: readonly { path: string; isFolder: boolean }[];
    signal?: AbortSignal;
  }): Promise<Set<string>>;
  /**
   * The newest commits of a git source that the workspace began with, the commit of the run first; empty for other sources. Reads the run's
   * own objects alone.
   */
  recentCommits(input: { runId: string; most: number; signal?: AbortSignal }): Promise<RecentCommit[]>;
  /**
   * Reads blobs of the run, one after the other: a second one is read once `onContent` has resolved. `content` is undefined for a blob of
   * more than `maxBytes`.
   */
  contents(input: {
    runId: string;
    oids: readonly string[];
    maxBytes: number;
    onContent(read: { index: number; bytes: number; content: Buffer | undefined }): Promise<void>;
    signal?: AbortSignal;
  }): Promise<void>;
  /**
   * Where what can be made again from the run's snapshots may lie: a folder that goes with the run, and that its user makes. For a fork, also
   * that of the run that it was forked from, which may be gone.
   */
  cache(runId: string): { path: string; origin: string | undefined };
  /**
   * The content of one file; for a link, its target. Throws `EPATHMISSING` when the snapshot has no file there, and `ECONTENTUNKNOWN` when
   * the snapshot skipped it.
   */
  read(input: { runId: string; snapshot: SnapshotId; path: string }): Promise<FileEntry & { content: Readable }>;
  /**
   * The files of a snapshot as an archive, with unchanged bytes.
   * @param input.paths only these files. @default all of them
   */
  archive(input: {
    runId: string;
    snapshot: SnapshotId;
    format: 'tar.gz' | 'zip';
    paths?: readonly string[];
  }): Promise<Readable>;
  /** Throws `EBRANCHINVALID` for a branch name that git rejects. Only reads. */
  checkBranch(name: string): Promise<void>;
  /**
   * What publishing base..snapshot would do now. Changes neither the source nor the run's folder. Throws `ENOTPUBLISHABLE` for an empty or
   * archive source, `EBRANCHINVALID` as `checkBranch`, and `ESOURCEBUSY` while a publish is not finished.
   */
  previewPublish(request: PublishRequest): Promise<contract.PublishPlan>;
  /**
   * A file in conflict by lines, and what taking the whole file of a side reverts. The versions are those of the last plan with conflicts;
   * throws `ECONFLICTGONE` when they are no longer kept.
   */
  conflict(input: {
    runId: string;
    versions: NonNullable<contract.Conflict['versions']>;
    /** Number of the first hunk, and the most hunks. */
    page: { from: number; limit: number };
  }): Promise<contract.ConflictLines>;
  /**
   * Plans a publish and stores the candidate. Does not change the source, except that it finishes an interrupted publish. Throws as
   * `previewPublish`.
   */
  planPublish(request: PublishRequest): Promise<contract.PublishPlan>;
  /**
   * Does all of the plan or nothing: a compare-and-set on a branch of a git source, or a journaled roll-forward of a directory. A conflict,
   * even one found half-way, leaves the source as it was. A call after a crash first finishes the interrupted publish and returns its
   * result.
   * @param request.expect digest of the plan
   */
  publish(request: PublishRequest & { expect: string }): Promise<PublishResult>;
  /** Removes the run's tree and shadow repository. Finishes an interrupted publish first. */
  discard(runId: string): Promise<void>;
  /** Whether the run has a tree: it was materialised, and the tree was not dropped. */
  hasTree(runId: string): Promise<boolean>;
  /**
   * Removes the tree of an ended run. Its snapshots stay, so it can still be read, compared, forked and published. Skipped paths are lost.
   * @param input.epoch not lower than the tree's: lower epochs are stale from then on
   */
  dropTree(input: { runId: string; epoch: number }): Promise<void>;
  /** Disk use of every run's workspace, largest first. */
  sizes(): Promise<RunSize[]>;
  /** Merges a run's objects into one pack and removes objects that no snapshot needs. Never removes a snapshot. */
  collect(runId: string): Promise<void>;
  /**
   * Finishes interrupted discards and take-overs, removes unfinished folders, moves folders of unknown runs to `<dataDir>/trash`, and empties
   * the trash after `limits.trashMs`.
   * @param input.isKnown whether a run, whose folder is older than an hour, has or may get a workspace
   * @returns run ids whose folders were moved to the trash
   */
  tidy(input: { isKnown: (runId: string) => Promise<boolean> }): Promise<string[]>;
  /** Removes unfinished folders of dead processes of this host. Cheap; called when a process starts. */
  removeAbandonedBuilds(): Promise<void>;
}

/** The input of a method of `Workspaces`. */
export type Call<Method extends keyof Workspaces> = Parameters<Workspaces[Method]>[0];
