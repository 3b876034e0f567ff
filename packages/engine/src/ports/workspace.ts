import type {
  ConflictSummary,
  EventOf,
  HiddenFiles,
  LfsPointers,
  MergeContent,
  PathChange,
  PreparedFrom,
  Published,
  PublishOptions,
  PublishPlan,
  Resolution,
  SecretScope,
  Source,
} from '@holdpoint/contract';

/** A workspace as it begins. */
export interface MadeWorkspace {
  snapshot: string;
  /** Where the change set is counted from. */
  base: string;
  base_commit: string | null;
  files: number;
  bytes: number;
  skipped: number;
  submodules: { path: string; commit: string }[];
  lfs_pointers?: LfsPointers | undefined;
  /** For a fork: the files are those that the commands of `prepare` left, or come from them. */
  prepared?: boolean;
}

interface Making {
  runId: string;
  /** The time of all its snapshots, in milliseconds since the epoch. @default now */
  createdAt?: number | undefined;
  onProgress(progress: { files: number; bytes: number }): void;
  signal: AbortSignal;
}

/** What a publish would do. `plan` is shown to people; the engine only hands it on. */
export interface PlannedPublish {
  /** The snapshot with what would be published. */
  candidate: string;
  digest: string;
  conflicts: (ConflictSummary & { resolvable: boolean })[];
  /** What the run made or changed and cannot be published, such as a socket. A person has to accept that. */
  unpublishable: string[];
  /** Files that would be published and hold the value of a secret. */
  secrets: readonly { path: string; names: readonly string[] }[];
  plan: PublishPlan;
}

export interface PublishCall {
  runId: string;
  snapshot: string;
  target: PublishOptions;
  resolutions: readonly Resolution[];
  scope: SecretScope;
}

export type TreeState =
  | { status: 'sound' }
  | ({ status: 'lost' } & Pick<EventOf<'workspace.distrusted'>['data'], 'reason' | 'detail'>);

/** What a tree has that a snapshot has not. */
export interface Difference {
  /** The tree as it is now. */
  snapshot: string;
  files_changed: number;
  skipped: number;
  /** The first of them; `total` counts all. */
  changes: PathChange[];
  total: number;
}

/** Whether a path may not differ from the parent snapshot. */
type Forbids = (path: string) => boolean;

export interface WorkspacePort {
  materialise(input: Making & { source: Source; tenant: string }): Promise<MadeWorkspace>;
  /** A workspace out of another run's snapshot. */
  fork(input: Making & { from: { runId: string; snapshot: string } }): Promise<MadeWorkspace>;
  /**
   * @param input.paths the changed paths, when they are known; absent: look at the whole tree
   * Throws `ForbiddenChange` when a path differs that may not: no snapshot was taken, and the tree is as it was found.
   * @throws `ESECRETWRITTEN` when a changed file holds the value of a secret of the run. Then nothing is stored
   */
  snapshot(input: {
    runId: string;
    epoch: number;
    parent: string;
    message: string;
    paths?: readonly string[];
    forbids?: Forbids | undefined;
    scope: SecretScope;
  }): Promise<{ snapshot: string; files_changed: number; skipped: number }>;
  /** Whether the tree is what the log says; see `TreeState`. */
  inspect(input: {
    runId: string;
    epoch: number;
    /** The writer that the log says was let at the tree last. */
    writer: string;
    snapshot: string;
    /** A background command may be changing the files now. */
    isShared: boolean;
    /** A writer is about to be admitted: changes by other programs since the last step must not count as its changes. */
    forWriter: boolean;
  }): Promise<TreeState>;
  /** Lets a writer at the tree that the log has recorded, before it changes anything. Throws when any other came after `after`. */
  admit(input: { runId: string; epoch: number; after: string; writer: string }): Promise<void>;
  /** The epoch of the newest tree on disk; 0: there is none. */
  newestEpoch(runId: string): Promise<number>;
  /**
   * Acts while the run's background commands stand still, whichever worker of this host runs them; they continue afterwards, also when this
   * process dies in between. One that is started in between begins afterwards, so the act must not wait for it. Calls may be nested.
   * Throws `EFREEZEFAILED` when they cannot be stopped: then the act was not called.
   */
  withFrozen<Result>(runId: string, act: () => Promise<Result>): Promise<Result>;
  /**
   * Takes a snapshot of the whole tree and compares it with the one that was decided on; undefined when nothing differs, not even what no
   * snapshot holds. Throws `ForbiddenChange` as `snapshot` does.
   */
  differenceFrom(input: {
    runId: string;
    epoch: number;
    /** The run's last snapshot. */
    parent: string;
    decided: string;
    message: string;
    forbids?: Forbids | undefined;
    scope: SecretScope;
  }): Promise<Difference | undefined>;
  /** Ends whatever is running on the workspace. */
  killAll(runId: string): Promise<void>;
  /** Changes the tree in place, back to a snapshot. */
  restore(input: { runId: string; epoch: number; snapshot: string }): Promise<void>;
  /** Makes a new tree of that epoch at a snapshot. Calls on older trees fail from then on, and processes on them are killed. */
  takeOver(input: { runId: string; epoch: number; snapshot: string; signal: AbortSignal }): Promise<void>;
  /** What a run changed between two of its snapshots, to be shown. @param input.whole ignored files, too, and much more before it is cut */
  contentOf(input: { runId: string; from: string; to: string; whole?: true }): Promise<MergeContent>;
  /** What the files of a snapshot hold that no diff shows. @param input.since where the change set of the run is counted from */
  hiddenFiles(input: { runId: string; since: string; snapshot: string }): Promise<HiddenFiles>;
  /** Brings the changes of another run, which began as this one was at `from.base`, into the tree; all of them or none. */
  merge(input: {
    runId: string;
    epoch: number;
    parent: string;
    from: { runId: string; snapshot: string; base: string };
    message: string;
  }): Promise<
    | { status: 'merged'; snapshot: string; paths: readonly string[]; left_out?: readonly string[] }
    | { status: 'conflict'; conflicts: { path: string; reason: string }[] }
  >;
  /** Keeps a snapshot that a call made on a fork until it is applied or dropped. */
  keepPreview(input: { runId: string; from: { runId: string; snapshot: string } }): Promise<void>;
  /** Brings the tree to a kept preview, which becomes a snapshot of the run. May be called again after a crash. */
  applyPreview(input: { runId: string; epoch: number; snapshot: string }): Promise<void>;
  /** Drops a kept preview; without a snapshot all of the run. */
  dropPreviews(input: { runId: string; snapshot?: string }): Promise<void>;
  /**
   * Brings the tree to what an earlier run of the tenant kept under the key; undefined when there is nothing to use, and then the tree is as
   * it was. Throws `ForbiddenChange` as `snapshot` does.
   */
  applyPrepared(input: {
    runId: string;
    epoch: number;
    parent: string;
    tenant: string;
    key: string;
    forbids?: Forbids | undefined;
  }): Promise<
    { snapshot: string; files_changed: number; skipped: number; made_from?: PreparedFrom | undefined } | undefined
  >;
  /**
   * Keeps what differs between two snapshots for other runs of the tenant.
   * @returns whether it was kept
   */
  keepPrepared(input: { runId: string; tenant: string; key: string; from: string; to: string }): Promise<boolean>;
  /** Remembers the files that the commands of `prepare` left: what they made is not part of the change set. */
  markPrepared(input: { runId: string; snapshot: string }): Promise<void>;
  planPublish(call: PublishCall): Promise<PlannedPublish>;
  /** Does what the plan with that digest said. `moved`: the source is not as that plan saw it; nothing was changed. */
  publish(
    call: PublishCall & { expect: string },
  ): Promise<
    | { status: 'published'; published: Published }
    | { status: 'conflict'; conflicts: readonly ConflictSummary[] }
    | { status: 'moved' }
  >;
  discard(runId: string): Promise<void>;
  hasTree(runId: string): Promise<boolean>;
  /** Removes the tree of an ended run and keeps its snapshots. A restore or a take-over makes it again. */
  dropTree(input: { runId: string; epoch: number }): Promise<void>;
  /** Brings what is stored of an ended run together. Cheap when there is nothing to do. */
  collect(runId: string): Promise<void>;
  /** Finishes what was interrupted, and removes folders of runs that `isKnown` denies. */
  tidy(input: { isKnown: (runId: string) => Promise<boolean> }): Promise<readonly string[]>;
}
