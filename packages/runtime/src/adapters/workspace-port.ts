import * as contract from '@holdpoint/contract';
import type { MadeWorkspace, WorkspacePort } from '@holdpoint/engine/worker';
import type { Sandbox } from '@holdpoint/sandbox';
import type { Redactor, Secrets } from '@holdpoint/secrets';
import { type Materialised, type Snapshot, WorkspaceError, type Workspaces } from '@holdpoint/workspace';

/** The engine's view of this host's workspaces. Every sandboxed process of a workspace is killed before its tree is removed. */
export function createWorkspacePort(
  workspaces: Workspaces,
  sandbox: Pick<Sandbox, 'withFrozen' | 'killAll'>,
  secrets: Secrets,
): WorkspacePort {
  /**
   * Freezes background commands, so the snapshot shows a single moment. Only a run with secrets can have
   * written one, so the files of other runs are not searched.
   */
  const takeSnapshot = ({ scope, ...input }: Parameters<WorkspacePort['snapshot']>[0]): Promise<Snapshot> =>
    sandbox.withFrozen(input.runId, (frozen) => {
      const names = keptOutOfFiles(scope);
      const check = names.length === 0 ? {} : { check: secrets.redactor(scope.tenant, names) };
      return workspaces.snapshot({ ...input, isShared: frozen > 0, ...check });
    });
  return {
    async materialise(making) {
      return toMade(await workspaces.materialise(making));
    },
    async fork(making) {
      return toMade(await workspaces.fork(making));
    },
    inspect: (input) => workspaces.inspect(input),
    admit: (input) => workspaces.admit(input),
    newestEpoch: (runId) => workspaces.newestEpoch(runId),
    async snapshot(input) {
      return toTaken(await takeSnapshot(input));
    },
    withFrozen: (runId, act) => sandbox.withFrozen(runId, act),
    async differenceFrom({ decided: from, ...input }) {
      const taken = await takeSnapshot(input);
      if (taken.id === from) return undefined;
      const difference = { runId: input.runId, from, to: taken.id, most: contract.mostChangesNamed };
      return { ...toTaken(taken), ...(await workspaces.compare(difference)) };
    },
    killAll: (runId) => sandbox.killAll(runId),
    restore: (input) => workspaces.restore(input),
    async takeOver(input) {
      await sandbox.killAll(input.runId);
      await workspaces.takeOver(input);
      // No process can start on an older tree any more. Kill the processes started before.
      await sandbox.killAll(input.runId);
    },
    async hiddenFiles(input) {
      const [unknown, repositories] = await Promise.all([workspaces.unknown(input), workspaces.repositories(input)]);
      return { unknown, repositories };
    },
    async contentOf({ runId, from, to, whole = false }) {
      const most = whole ? mostNamedOfWhole : contract.mostChangesNamed;
      const { changes, total } = await workspaces.compare({ runId, from, to, most });
      const { files } = await workspaces.diff({ runId, from, to, includeIgnored: whole });
      assertReadable(files);
      return { changes, total, ...patchOf(files, whole ? longestWhole : longestPatch) };
    },
    async merge(input) {
      return sandbox.withFrozen(input.runId, async (frozen) => {
        const merged = await workspaces.merge({ ...input, isShared: frozen > 0 });
        if (merged.status !== 'merged') return merged;
        return { status: 'merged', snapshot: merged.snapshot.id, paths: merged.paths, left_out: merged.left_out };
      });
    },
    async applyPrepared(input) {
      const taken = await workspaces.applyPrepared(input);
      return taken && { ...toTaken(taken), made_from: taken.made_from };
    },
    keepPrepared: (input) => workspaces.keepPrepared(input),
    markPrepared: (input) => workspaces.markPrepared(input),
    keepPreview: (input) => workspaces.keepPreview(input),
    applyPreview: (input) =>
      sandbox.withFrozen(input.runId, (frozen) => workspaces.applyPreview({ ...input, isShared: frozen > 0 })),
    dropPreviews: (input) => workspaces.dropPreviews(input),
    async planPublish({ scope, ...call }) {
      const plan = await workspaces.planPublish(call);
      const redactor = secrets.redactor(scope.tenant);
      const { candidate, digest } = plan;
      const conflicts = plan.conflicts.map(({ path, reason, detail, versions }) => {
        return { path, reason, detail, resolvable: versions !== undefined };
      });
      const unpublishable = plan.left_out.filter(contract.isUnstorable).map(({ path }) => path ?? 'other files');
      const found = await findSecrets(workspaces, redactor, { runId: call.runId, plan });
      return redactor.json({ candidate, digest, conflicts, unpublishable, plan, secrets: found });
    },
    async publish({ scope: _scope, ...call }) {
      const result = await workspaces.publish(call);
      if (result.status !== 'conflict') return result;
      // The log names the files; only a plan shows their versions.
      return { status: 'conflict', conflicts: result.conflicts.map(({ versions, merge, ...conflict }) => conflict) };
    },
    async discard(runId) {
      await sandbox.killAll(runId);
      await workspaces.discard(runId);
    },
    hasTree: (runId) => workspaces.hasTree(runId),
    async dropTree(input) {
      await sandbox.killAll(input.runId);
      await workspaces.dropTree(input);
    },
    collect: (runId) => workspaces.collect(runId),
    tidy: (input) => workspaces.tidy(input),
  };
}

/** Names of the secrets no snapshot of a run may contain. */
function keptOutOfFiles({ secrets }: contract.SecretScope): string[] {
  const names = (uses: readonly contract.SecretUse[]) => new Set(uses.map(({ name }) => name));
  const inFiles = names(secrets.filter(({ as }) => 'placeholder' in as && as.placeholder === 'files'));
  return [...names(secrets).difference(inFiles)];
}

/** Finds files of a publish with the value of a secret in their path or content. A link's target counts as its content. */
async function findSecrets(
  workspaces: Workspaces,
  redactor: Redactor,
  { runId, plan: { candidate: snapshot, files } }: { runId: string; plan: contract.PublishPlan },
): Promise<{ path: string; names: string[] }[]> {
  if (redactor.isEmpty) return [];
  const found: { path: string; names: string[] }[] = [];
  for (const { path, status } of files) {
    if (status === 'deleted') continue;
    const search = redactor.search();
    search.read(Buffer.from(`${path}\0`));
    const { content } = await workspaces.read({ runId, snapshot, path });
    for await (const chunk of content as AsyncIterable<Buffer>) search.read(chunk);
    const names = search.found();
    if (names.length > 0) found.push({ path, names });
  }
  return found;
}

/** Most characters of a patch in an approval. */
const longestPatch = 64 * 1024;
/** Most characters of the patch of a result: a person sees the whole patch, or decides on the call alone. */
const longestWhole = 1024 * 1024;
const mostNamedOfWhole = 1000;

/** Refuses to show a change for a decision while the content of a changed file is lost. */
function assertReadable(files: readonly contract.FileDiff[]): void {
  const lost = files.find(({ unreadable }) => unreadable !== undefined);
  if (lost !== undefined)
    throw new WorkspaceError(
      'EWORKSPACECORRUPT',
      `The content of ${lost.path} is lost or damaged in the store of the run.`,
    );
}

function patchOf(files: readonly contract.FileDiff[], longest: number): { patch: string; cut: boolean } {
  let patch = '';
  for (const { path, status, hunks, omitted } of files) {
    if (omitted) return { patch, cut: true };
    const names = [status === 'added' ? '/dev/null' : `a/${path}`, status === 'deleted' ? '/dev/null' : `b/${path}`];
    const heads = hunks.length === 0 ? [] : [`--- ${names[0]}`, `+++ ${names[1]}`];
    const lines = hunks.flatMap((hunk) => [
      `@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@`,
      ...hunk.lines,
    ]);
    const text = [...heads, ...lines].map((line) => `${line}\n`).join('');
    if (patch.length + text.length > longest) return { patch, cut: true };
    patch += text;
  }
  return { patch, cut: false };
}

const toMade = ({
  id,
  base,
  prepared,
  base_commit,
  files,
  bytes,
  skipped,
  submodules,
  lfs_pointers,
}: Materialised): MadeWorkspace => ({
  snapshot: id,
  base,
  prepared,
  base_commit,
  files,
  bytes,
  skipped: skipped.length,
  submodules,
  ...(lfs_pointers && { lfs_pointers }),
});

const toTaken = ({ id, files_changed, skipped }: Snapshot): Awaited<ReturnType<WorkspacePort['snapshot']>> => ({
  snapshot: id,
  files_changed,
  skipped: skipped.length,
});
