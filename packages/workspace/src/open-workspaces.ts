import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createBounds, type Roots } from './bounds/bounds.ts';
import { type Deps, errnoOf, type Limits, type Owner, WorkspaceError, type Workspaces } from './deps.ts';
import { diffSnapshots, statSnapshots } from './diff/diff.ts';
import { nameDamagedOf, patchSnapshots } from './diff/patch.ts';
import { createSharing, useTree } from './drivers/trees.ts';
import { createDiffProcesses } from './host-git/diff-processes.ts';
import { createGit } from './host-git/git.ts';
import { withObjectReader } from './host-git/object-reader.ts';
import { configuredRepositories } from './left-out/changed-repositories.ts';
import { listIgnored } from './left-out/list-ignored.ts';
import { collectObjects } from './maintenance/collect-objects.ts';
import { dropTree, hasTree, restoreTree } from './maintenance/drop-tree.ts';
import { measureRuns } from './maintenance/measure-runs.ts';
import { tidyFolders } from './maintenance/tidy-folders.ts';
import { checkSource } from './materialise/check-source.ts';
import { removeAbandonedBuilds } from './materialise/create-run-folder.ts';
import { materialise } from './materialise/materialise.ts';
import type { Logger } from './port/logger.ts';
import type { RemoteGit } from './port/remote-git.ts';
import { defaultTrees, type TreesSetting } from './port/sharing.ts';
import { applyPrepared } from './prepared/apply-prepared.ts';
import { markPrepared, measurePrepared } from './prepared/entry.ts';
import { inputDigest } from './prepared/input-digest.ts';
import { keepPrepared } from './prepared/keep-prepared.ts';
import { branchName } from './publish/git/git-input.ts';
import { readConflict } from './publish/merge/view-conflict.ts';
import { planPublish, previewPublish, publish } from './publish/publish.ts';
import { archiveFiles } from './read/archive-files.ts';
import { listFiles, listUnknown, readSnapshotFile } from './read/files.ts';
import { listTree } from './read/list-tree.ts';
import { readContents } from './read/read-contents.ts';
import { recentCommits } from './read/recent-commits.ts';
import { repositoryMounts } from './repository/index.ts';
import { discard } from './run/discard.ts';
import { forkWorkspace } from './run/fork-workspace.ts';
import { admitWriter, inspectFiles, inspectTree } from './run/inspect-tree.ts';
import { keepOutput, openOutputs } from './run/keep-output.ts';
import { mergeRun } from './run/merge.ts';
import { applyPreview, dropPreviews, keepPreview } from './run/preview.ts';
import { takeOver } from './run/take-over.ts';
import * as folders from './run-folder/index.ts';
import { compareSnapshots } from './snapshots/compare.ts';
import { takeSnapshot } from './snapshots/snapshot.ts';
import { findFolders } from './source/folders/index.ts';
import { createRecovery } from './store/journal/index.ts';
import { createChecks } from './store/keyed/index.ts';
import { createRunStates } from './tree/index.ts';

export interface WorkspacesOptions {
  /** Runs are stored in `<dataDir>/runs/<runId>/…`. Created when missing. A local file system. */
  dataDir: string;
  /** @default 'git', looked up in the usual places */
  gitPath?: string;
  /** Chooses the uid and gid that own a run's tree. Only a root host changes owners. */
  allocateOwner: (runId: string) => Promise<Owner> | Owner;
  limits?: Partial<Limits>;
  /** Which trees share files with other trees. @default `defaultTrees` */
  layers?: TreesSetting | undefined;
  /** Globs of the files that decide what the commands of `prepare` make. @default all files of a source */
  preparedInputs?: readonly string[] | undefined;
  /** Where sources may lie and where a publish may write; some places are never allowed. @default everywhere else */
  roots?: Roots;
  /** Reads and writes remote repositories. @default remote sources cannot be used */
  remoteGit?: RemoteGit;
  /** A pino logger or a compatible one. @default silent */
  logger?: Logger;
  /** Milliseconds since 1970. @default Date.now */
  now?: () => number;
  /** Identifies the boot of this machine. @default the kernel's boot id */
  bootId?: string;
  /** Called at named points between durable steps; fault injection stops the process there. */
  onPoint?: (point: string) => void;
}

/** A single file may be as large as the whole source. */
const defaultLimits: Omit<Limits, 'fileBytes'> = {
  freeBytes: 0,
  sourceBytes: 10 * 1024 ** 3,
  entries: 500_000,
  preparedBytes: 5 * 1024 ** 3,
  poolBytes: 5 * 1024 ** 3,
  layerBytes: 5 * 1024 ** 3,
  trashMs: 7 * 24 * 3_600_000,
  diffBytes: 64 * 1024 * 1024,
  hunkBytes: 1024 * 1024,
};

/** Opens the staging workspaces of this host. Writing calls for the same run are serialised; other calls run concurrently. */
export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  mkdirSync(join(options.dataDir, 'runs'), { recursive: true, mode: 0o711 });
  const dataDir = realpathSync(options.dataDir);
  mkdirSync(join(dataDir, 'git'), { recursive: true, mode: 0o711 });
  const git = createGit({ gitPath: options.gitPath });
  const deps: Deps = {
    dataDir,
    sharing: createSharing({ setting: options.layers ?? defaultTrees, dataDir }),
    checks: createChecks(),
    preparedInputs: options.preparedInputs,
    git,
    bounds: createBounds({ dataDir, ...options.roots }),
    remoteGit: options.remoteGit,
    fetching: folders.createSerial(),
    diffProcesses: createDiffProcesses(git),
    states: createRunStates(),
    looks: folders.createLooks(options.now ?? (() => performance.now())),
    limits: {
      ...defaultLimits,
      fileBytes: options.limits?.sourceBytes ?? defaultLimits.sourceBytes,
      ...options.limits,
    },
    logger: options.logger ?? { info: () => {}, warn: () => {} },
    holder: folders.thisProcess(options.bootId),
    allocateOwner: options.allocateOwner,
    now: options.now ?? Date.now,
    isRoot: process.getuid?.() === 0,
    onPoint: options.onPoint ?? (() => {}),
  };
  const serial = folders.createSerial();
  const recover = createRecovery(deps);
  /** Before anything reads a snapshot of the runs. */
  const reading = <T>(runIds: readonly string[], act: () => Promise<T>): Promise<T> =>
    asWorkspaceError(async () => {
      for (const runId of runIds) await recover(runId);
      return act();
    });
  const serialised = <T>(
    runId: string,
    act: () => Promise<T>,
    { others = [], signal }: { others?: readonly string[]; signal?: AbortSignal | undefined } = {},
  ): Promise<T> => serial(runId, () => reading([runId, ...others], act), signal);
  /** One program of git reads all objects of a call. */
  const kept =
    <T>(act: (own: Deps) => Promise<T>) =>
    (): Promise<T> =>
      withObjectReader(deps, act);
  return {
    check: (source) => asWorkspaceError(kept((own) => checkSource(own, source))),
    materialise: (input) =>
      serialised(
        input.runId,
        kept((own) => materialise(own, input)),
        { signal: input.signal },
      ),
    fork: (input) =>
      serialised(
        input.runId,
        kept((own) => forkWorkspace(own, input)),
        { others: [input.from.runId], signal: input.signal },
      ),
    locate: ({ runId, epoch }) =>
      asWorkspaceError(async () => {
        const folder = folders.runFolder(dataDir, runId, epoch);
        const record = folders.requireRecord(folder);
        const { owner, base } = record;
        folders.assertCurrent(folder);
        await useTree(deps, folder);
        const sourceFolders = findFolders(deps, { folder, record });
        const outputs = openOutputs(deps, folder, owner);
        return { path: folder.tree, owner, repository: repositoryMounts(folder), sourceFolders, outputs, base };
      }),
    keepOutput: (input) => asWorkspaceError(() => keepOutput(deps, input)),
    inspect: (input) =>
      asWorkspaceError(async () => {
        return inspectTree(deps, input, () =>
          serialised(
            input.runId,
            kept((own) => inspectFiles(own, input)),
          ),
        );
      }),
    admit: (input) => asWorkspaceError(async () => admitWriter(deps, input)),
    newestEpoch: async (runId) => folders.highestEpoch(folders.runFolder(dataDir, runId).path),
    snapshot: (input) =>
      serialised(
        input.runId,
        kept((own) => takeSnapshot(own, input)),
      ),
    compare: (input) =>
      serialised(
        input.runId,
        kept((own) => compareSnapshots(own, input)),
      ),
    restore: (input) =>
      serialised(
        input.runId,
        kept((own) => restoreTree(own, input)),
      ),
    takeOver: (input) =>
      serialised(
        input.runId,
        kept((own) => takeOver(own, input)),
        { signal: input.signal },
      ),
    merge: (input) =>
      serialised(
        input.runId,
        kept((own) => mergeRun(own, input)),
        { others: [input.from.runId] },
      ),
    inputDigest: (input) =>
      serialised(
        input.runId,
        kept((own) => inputDigest(own, input)),
      ),
    applyPrepared: (input) =>
      serialised(
        input.runId,
        kept((own) => applyPrepared(own, input)),
      ),
    keepPrepared: (input) =>
      serialised(
        input.runId,
        kept((own) => keepPrepared(own, input)),
      ),
    markPrepared: (input) => serialised(input.runId, () => markPrepared(deps, input)),
    prepared: () => asWorkspaceError(() => measurePrepared(deps)),
    keepPreview: (input) => serialised(input.runId, () => keepPreview(deps, input), { others: [input.from.runId] }),
    applyPreview: (input) =>
      serialised(
        input.runId,
        kept((own) => applyPreview(own, input)),
      ),
    dropPreviews: (input) => serialised(input.runId, () => dropPreviews(deps, input)),
    diff: (input) =>
      reading(
        [input.runId],
        kept((own) => diffSnapshots(own, input)),
      ),
    diffStat: (input) =>
      reading(
        [input.runId],
        kept((own) => statSnapshots(own, input)),
      ),
    patch: (input) =>
      reading(
        [input.runId],
        kept((own) => patchSnapshots(own, input)),
      ),
    files: (input) => reading([input.runId], () => listFiles(deps, input)),
    listing: (input) =>
      serialised(
        input.runId,
        kept((own) => listTree(own, input)),
      ),
    ignored: (input) =>
      reading(
        [input.runId],
        kept((own) => listIgnored(own, input)),
      ),
    recentCommits: (input) =>
      reading(
        [input.runId],
        kept((own) => recentCommits(own, input)),
      ),
    contents: (input) => reading([input.runId], () => readContents(deps, input)),
    cache: (runId) => folders.cacheOf(dataDir, runId),
    unknown: (input) => reading([input.runId], () => listUnknown(deps, input)),
    repositories: ({ runId, snapshot, since }) =>
      reading([runId], async () => {
        const folder = folders.runFolder(dataDir, runId);
        folders.requireRecord(folder);
        return withObjectReader(deps, (own) => configuredRepositories(own, { folder, from: since, to: snapshot }));
      }),
    read: (input) => reading([input.runId], () => readSnapshotFile(deps, input)),
    archive: (input) => reading([input.runId], () => archiveFiles(deps, input)),
    checkBranch: (name) => asWorkspaceError(async () => void branchName(name)),
    previewPublish: (request) =>
      reading(
        [request.runId],
        kept((own) => nameDamagedOf(own, request, () => previewPublish(own, request))),
      ),
    conflict: (input) => reading([input.runId], () => readConflict(deps, input)),
    planPublish: (request) =>
      serialised(
        request.runId,
        kept((own) => nameDamagedOf(own, request, () => planPublish(own, request))),
      ),
    publish: (request) =>
      serialised(
        request.runId,
        kept((own) => nameDamagedOf(own, request, () => publish(own, request))),
      ),
    discard: (runId) => serialised(runId, () => discard(deps, runId)),
    hasTree: async (runId) => hasTree(deps, runId),
    dropTree: (input) => serialised(input.runId, () => dropTree(deps, input)),
    sizes: () => asWorkspaceError(() => measureRuns(deps)),
    collect: (runId) => serialised(runId, () => collectObjects(deps, runId)),
    removeAbandonedBuilds: () => asWorkspaceError(() => removeAbandonedBuilds(deps)),
    tidy: ({ isKnown }) => asWorkspaceError(() => tidyFolders(deps, { isKnown, serial })),
  };
}

/** Turns system errors into `ENOSPC` or `EIO`; rethrows an abort and any other error. */
async function asWorkspaceError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    const errno = errnoOf(cause);
    const isSystem = errno !== undefined && /^E[A-Z0-9]+$/.test(errno) && cause instanceof Error && 'syscall' in cause;
    if (!isSystem) throw cause;
    const code = errno === 'ENOSPC' || errno === 'EDQUOT' ? 'ENOSPC' : 'EIO';
    throw new WorkspaceError(code, `The workspace could not be read or written: ${cause.message}`, { cause });
  }
}
