import type * as contract from '@holdpoint/contract';

/** A workspace at its beginning. */
export interface MadeWorkspace {
  snapshot: string;
  /** Where the change set is counted from. */
  base: string;
  base_commit: string | null;
  files: number;
  bytes: number;
  skipped: number;
  submodules: { path: string; commit: string }[];
  lfs_pointers?: contract.LfsPointers | undefined;
  /** For a fork: the commands of `prepare` left these files, or the files derive from theirs. */
  prepared?: boolean;
}

interface Making {
  runId: string;
  /** The time of all its snapshots, in milliseconds since the epoch. @default now */
  createdAt?: number | undefined;
  onProgress(progress: { files: number; bytes: number }): void;
  signal: AbortSignal;
}

/** The expected result of a publish. People see `plan`; the engine only passes the plan through. */
export interface PlannedPublish {
  /** A snapshot with the files to publish. */
  candidate: string;
  digest: string;
  conflicts: (contract.ConflictSummary & { resolvable: boolean })[];
  /** Paths made or changed by the run that cannot be published, for example a socket. A person has to accept them. */
  unpublishable: string[];
  /** Files to be published although they hold the value of a secret. */
  secrets: readonly { path: string; names: readonly string[] }[];
  plan: contract.PublishPlan;
}

export interface PublishCall {
  runId: string;
  snapshot: string;
  target: contract.PublishOptions;
  resolutions: readonly contract.Resolution[];
  scope: contract.SecretScope;
}

export type TreeState =
  | { status: 'sound' }
  | ({ status: 'lost' } & Pick<contract.EventOf<'workspace.distrusted'>['data'], 'reason' | 'detail'>);

/** The difference of a tree from a snapshot. */
export interface Difference {
  /** A snapshot of the present tree. */
  snapshot: string;
  files_changed: number;
  skipped: number;
  /** The first of them; `total` counts all. */
  changes: contract.PathChange[];
  total: number;
}

/** Whether a path may not differ from the parent snapshot. */
type Forbids = (path: string) => boolean;

export interface WorkspacePort {
  materialise(input: Making & { source: contract.Source; tenant: string }): Promise<MadeWorkspace>;
  /** A workspace out of another run's snapshot. */
  fork(input: Making & { from: { runId: string; snapshot: string } }): Promise<MadeWorkspace>;
  /**
   * Throws `ForbiddenChange` when a path differs but may not: no snapshot was taken, and the tree is as found.
   * @param input.paths the changed paths, when the caller knows them; absent: look at the whole tree
   * @throws `ESECRETWRITTEN` when a changed file holds the value of a secret of the run. Then nothing is stored
   */
  snapshot(input: {
    runId: string;
    epoch: number;
    parent: string;
    message: string;
    paths?: readonly string[];
    forbids?: Forbids | undefined;
    scope: contract.SecretScope;
  }): Promise<{ snapshot: string; files_changed: number; skipped: number }>;
  /** Compares the tree with the log; see `TreeState`. */
  inspect(input: {
    runId: string;
    epoch: number;
    /** The last writer admitted to the tree, according to the log. */
    writer: string;
    snapshot: string;
    /** A background command may be changing the files now. */
    isShared: boolean;
    /** A writer is about to be admitted: changes by other programs since the last step must not count as its changes. */
    forWriter: boolean;
  }): Promise<TreeState>;
  /**
   * Admits a writer to the tree before the writer's first change. The log has already recorded the writer. Throws when another writer came
   * after `after`.
   */
  admit(input: { runId: string; epoch: number; after: string; writer: string }): Promise<void>;
  /** The epoch of the newest tree on disk; 0: there is none. */
  newestEpoch(runId: string): Promise<number>;
  /**
   * Stops the run's background commands, whichever worker of this host runs them, calls `act` and lets the commands continue. They continue
   * even when this process dies during `act`. A command started during `act` begins afterwards, so `act` must not wait for the command.
   * Calls may be nested. Throws `EFREEZEFAILED` when the commands cannot be stopped: then `act` was not called.
   */
  withFrozen<Result>(runId: string, act: () => Promise<Result>): Promise<Result>;
  /**
   * Takes a snapshot of the whole tree and compares the tree with the decided snapshot. Undefined when nothing differs, not even a path
   * left out of every snapshot. Throws `ForbiddenChange` as `snapshot` does.
   */
  differenceFrom(input: {
    runId: string;
    epoch: number;
    /** The run's last snapshot. */
    parent: string;
    decided: string;
    message: string;
    forbids?: Forbids | undefined;
    scope: contract.SecretScope;
  }): Promise<Difference | undefined>;
  /** Ends whatever is running on the workspace. */
  killAll(runId: string): Promise<void>;
  /** Changes the tree in place, back to a snapshot. */
  restore(input: { runId: string; epoch: number; snapshot: string }): Promise<void>;
  /** Makes a new tree of the given epoch at a snapshot. Calls on older trees fail from then on, and processes on older trees are killed. */
  takeOver(input: { runId: string; epoch: number; snapshot: string; signal: AbortSignal }): Promise<void>;
  /**
   * The changes of a run between two of its snapshots, for display. @param input.whole ignored files, too, and a much higher limit before
   * the content is cut
   */
  contentOf(input: { runId: string; from: string; to: string; whole?: true }): Promise<contract.MergeContent>;
  /** The content of a snapshot's files that no diff shows. @param input.since where the change set of the run is counted from */
  hiddenFiles(input: { runId: string; since: string; snapshot: string }): Promise<contract.HiddenFiles>;
  /** Brings the changes of another run into the tree, all of them or none. The other run began as a copy of this run at `from.base`. */
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
  /** Keeps a snapshot made by a call on a fork until the snapshot is applied or dropped. */
  keepPreview(input: { runId: string; from: { runId: string; snapshot: string } }): Promise<void>;
  /** Brings the tree to a kept preview: the preview becomes a snapshot of the run. May be called again after a crash. */
  applyPreview(input: { runId: string; epoch: number; snapshot: string }): Promise<void>;
  /** Drops a kept preview; without a snapshot all of the run. */
  dropPreviews(input: { runId: string; snapshot?: string }): Promise<void>;
  /**
   * Brings the tree to the files kept under the key by an earlier run of the tenant. Undefined when no usable files exist; the tree is then
   * unchanged. Throws `ForbiddenChange` as `snapshot` does.
   */
  applyPrepared(input: {
    runId: string;
    epoch: number;
    parent: string;
    tenant: string;
    key: string;
    forbids?: Forbids | undefined;
  }): Promise<
    | { snapshot: string; files_changed: number; skipped: number; made_from?: contract.PreparedFrom | undefined }
    | undefined
  >;
  /**
   * Keeps the difference between two snapshots for other runs of the tenant.
   * @returns whether the difference was kept
   */
  keepPrepared(input: { runId: string; tenant: string; key: string; from: string; to: string }): Promise<boolean>;
  /** Remembers the files left by the commands of `prepare`. Files made by the commands are not part of the change set. */
  markPrepared(input: { runId: string; snapshot: string }): Promise<void>;
  planPublish(call: PublishCall): Promise<PlannedPublish>;
  /** Carries out the plan with the digest `expect`. `moved`: the source has changed since the plan was made; nothing was published. */
  publish(
    call: PublishCall & { expect: string },
  ): Promise<
    | { status: 'published'; published: contract.Published }
    | { status: 'conflict'; conflicts: readonly contract.ConflictSummary[] }
    | { status: 'moved' }
  >;
  discard(runId: string): Promise<void>;
  hasTree(runId: string): Promise<boolean>;
  /** Removes the tree of an ended run and keeps its snapshots. A restore or a take-over makes the tree again. */
  dropTree(input: { runId: string; epoch: number }): Promise<void>;
  /** Packs the stored data of an ended run. Cheap when there is nothing to do. */
  collect(runId: string): Promise<void>;
  /** Finishes interrupted operations, and removes folders of runs denied by `isKnown`. */
  tidy(input: { isKnown: (runId: string) => Promise<boolean> }): Promise<readonly string[]>;
}
