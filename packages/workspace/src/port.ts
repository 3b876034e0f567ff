import { z } from 'zod';

/** Where a run's files come from. Wire shape of `workspace.source`. */
export const sourceSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('directory'),
    path: z.string().min(1).describe('Absolute path of a directory on the worker host'),
  }),
  z.strictObject({
    type: z.literal('git'),
    path: z.string().min(1).describe('Absolute path of a git work tree or bare repository on the worker host'),
    ref: z.string().min(1).optional().describe('Branch, tag or commit. Default: HEAD'),
  }),
  z.strictObject({ type: z.literal('empty') }),
]);
export type Source = z.infer<typeof sourceSchema>;

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

export interface Materialised extends Snapshot {
  owner: Owner;
  /** Regular files of the copy, and their bytes. */
  files: number;
  bytes: number;
  /** Commit that a git source was pinned to; null for other sources. */
  base_commit: string | null;
}

export const fileDiffSchema = z.strictObject({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted']),
  old_mode: z.string().nullable().describe('git mode, e.g. 100644'),
  new_mode: z.string().nullable(),
  binary: z.boolean(),
  additions: z.int(),
  deletions: z.int(),
  hunks: z.array(
    z.strictObject({
      old_start: z.int(),
      old_lines: z.int(),
      new_start: z.int(),
      new_lines: z.int(),
      lines: z.array(z.string()).describe('Each line starts with " ", "+", "-" or "\\\\"'),
    }),
  ),
});
export type FileDiff = z.infer<typeof fileDiffSchema>;

export const publishedSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('git'),
    path: z.string(),
    branch: z.string().describe('Full ref, e.g. refs/heads/holdpoint/run_…'),
    commit: z.string(),
  }),
  z.strictObject({ type: z.literal('directory'), path: z.string(), files_written: z.int(), files_deleted: z.int() }),
]);
export type Published = z.infer<typeof publishedSchema>;

/** Why nothing was published; the source is as it was. */
export interface Conflict {
  path: string;
  reason: 'changed_in_source' | 'branch_moved' | 'source_missing';
  detail: string;
}
export type PublishResult =
  | { status: 'published'; published: Published }
  | { status: 'conflict'; conflicts: Conflict[] };

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
   * Copies the source into the run's private tree and takes the first snapshot. Never touches the source. `.git` entries are not
   * part of a workspace: they are neither copied nor snapshotted, compared or published. A submodule is an empty folder.
   */
  materialise(input: { runId: string; source: Source; signal?: AbortSignal }): Promise<Materialised>;
  /** The tree's host path and owner. Throws `EWORKSPACEMISSING` when the run was never materialised, or was discarded. */
  locate(runId: string): Promise<{ path: string; owner: Owner }>;
  /**
   * Commits the tree as it is. No process may be writing to it. Nothing changed → the parent itself, with `files_changed: 0`; when
   * only empty folders or skipped paths changed it is a new snapshot with `files_changed: 0`. Taken again after a crash it has the
   * same id. Somebody writing → `EWORKSPACEBUSY`.
   * @param input.paths known changed paths (file tools); absent → walk the tree (commands)
   */
  snapshot(input: { runId: string; parent: SnapshotId; message: string; paths?: readonly string[] }): Promise<Snapshot>;
  /**
   * Brings the tree to a snapshot, empty folders included; what no snapshot knows is removed. Paths that a snapshot of the run
   * noted as skipped and `.git` entries are left alone.
   */
  restore(input: { runId: string; snapshot: SnapshotId }): Promise<void>;
  /** For reading: text that is not UTF-8 has replacement characters, large text is shown as binary. `path`: a file or a folder. */
  diff(input: { runId: string; from: SnapshotId; to: SnapshotId; path?: string }): Promise<FileDiff[]>;
  /** A patch that `git apply` accepts, binary files and mode changes included. */
  patch(input: { runId: string; from: SnapshotId; to: SnapshotId; path?: string }): Promise<string>;
  /**
   * Brings the change set base..snapshot to the source: a new branch of a git source, or a journaled roll-forward of a directory.
   * A conflict leaves the source as it was, also one that is met half-way. A call after a crash first finishes what was begun.
   * An empty source → `ENOTPUBLISHABLE`.
   */
  publish(input: { runId: string; snapshot: SnapshotId; message: string }): Promise<PublishResult>;
  /** Removes the run's tree and shadow repository. A publish that was interrupted is finished first. */
  discard(runId: string): Promise<void>;
}
