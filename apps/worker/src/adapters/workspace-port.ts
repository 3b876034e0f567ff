import type { WorkspacePort } from '@holdpoint/engine/ports';
import type { Sandbox } from '@holdpoint/sandbox/port';
import { sourceSchema, type Workspaces } from '@holdpoint/workspace/port';

/** The engine's view of this host's workspaces. A workspace is quiet (nothing sandboxed runs on it) before it goes away. */
export function createWorkspacePort(workspaces: Workspaces, sandbox: Sandbox): WorkspacePort {
  return {
    async materialise({ runId, source, signal }) {
      const made = await workspaces.materialise({ runId, source: sourceSchema.parse(source), signal });
      const { id, base_commit, files, bytes, skipped } = made;
      return { snapshot: id, base_commit, files, bytes, skipped: skipped.length };
    },
    async snapshot(input) {
      const { id, files_changed, skipped } = await workspaces.snapshot(input);
      return { snapshot: id, files_changed, skipped: skipped.length };
    },
    quiesce: (runId) => sandbox.killAll(runId),
    restore: (input) => workspaces.restore(input),
    publish: (input) => workspaces.publish(input),
    async discard(runId) {
      await sandbox.killAll(runId);
      await workspaces.discard(runId);
    },
  };
}
