import { type FileDiff, isUnstorable, mostChangesNamed } from '@holdpoint/contract';
import type { MadeWorkspace, PublishCall, WorkspacePort } from '@holdpoint/engine/worker';
import type { Sandbox } from '@holdpoint/sandbox';
import type { Materialised, PublishRequest, Workspaces } from '@holdpoint/workspace';

/** The engine's view of this host's workspaces. A workspace is quiet (nothing sandboxed runs on it) before it goes away. */
export function createWorkspacePort(workspaces: Workspaces, sandbox: Sandbox): WorkspacePort {
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
      // What runs in the background stands still meanwhile, so that the snapshot is of one moment.
      const taken = await sandbox.withFrozen(input.runId, (frozen) =>
        workspaces.snapshot({ ...input, isShared: frozen > 0 }),
      );
      return { snapshot: taken.id, files_changed: taken.files_changed, skipped: taken.skipped.length };
    },
    withFrozen: (runId, act) => sandbox.withFrozen(runId, act),
    async differenceFrom({ decided, ...input }) {
      return sandbox.withFrozen(input.runId, async (frozen) => {
        const taken = await workspaces.snapshot({ ...input, isShared: frozen > 0 });
        if (taken.id === decided) return undefined;
        const { runId } = input;
        const { changes, total } = await workspaces.compare({
          runId,
          from: decided,
          to: taken.id,
          most: mostChangesNamed,
        });
        return {
          ...{ snapshot: taken.id, files_changed: taken.files_changed, skipped: taken.skipped.length },
          ...{ changes, total },
        };
      });
    },
    killAll: (runId) => sandbox.killAll(runId),
    restore: (input) => workspaces.restore(input),
    async takeOver(input) {
      await sandbox.killAll(input.runId);
      await workspaces.takeOver(input);
      // Nothing can be started on an older tree any more; what was started before ends now.
      await sandbox.killAll(input.runId);
    },
    async contentOf({ runId, from, to }) {
      const { changes, total } = await workspaces.compare({ runId, from, to, most: mostChangesNamed });
      const { files } = await workspaces.diff({ runId, from, to });
      return { changes, total, ...patchOf(files) };
    },
    async merge(input) {
      return sandbox.withFrozen(input.runId, async (frozen) => {
        const merged = await workspaces.merge({ ...input, isShared: frozen > 0 });
        if (merged.status !== 'merged') return merged;
        return { status: 'merged', paths: merged.paths, left_out: merged.left_out };
      });
    },
    async planPublish(call) {
      const plan = await workspaces.planPublish(toRequest(call));
      const { candidate, digest } = plan;
      const conflicts = plan.conflicts.map(({ path, reason, detail, versions }) => {
        return { path, reason, detail, resolvable: versions !== undefined };
      });
      const unpublishable = plan.left_out.filter(isUnstorable).map(({ path }) => path ?? 'other files');
      return { candidate, digest, conflicts, unpublishable, plan };
    },
    async publish({ expect, ...call }) {
      const result = await workspaces.publish({ ...toRequest(call), expect });
      if (result.status !== 'conflict') return result;
      // The log names the files; a plan shows what is in them.
      return { status: 'conflict', conflicts: result.conflicts.map(({ versions, ...conflict }) => conflict) };
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

/** Characters of a patch that a person reads before a decision. */
const longestPatch = 64 * 1024;

function patchOf(files: readonly FileDiff[]): { patch: string; cut: boolean } {
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
    if (patch.length + text.length > longestPatch) return { patch, cut: true };
    patch += text;
  }
  return { patch, cut: false };
}

function toMade({ id, base, base_commit, files, bytes, skipped, submodules }: Materialised): MadeWorkspace {
  return { snapshot: id, base, base_commit, files, bytes, skipped: skipped.length, submodules };
}

function toRequest({ runId, snapshot, target, resolutions }: PublishCall): PublishRequest {
  return {
    runId,
    snapshot,
    target: target,
    resolutions: resolutions,
  };
}
