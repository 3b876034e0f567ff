import type { Executor } from '@holdpoint/engine/ports';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox/port';
import type { Registry } from '@holdpoint/tools/registry';
import type { ToolContext } from '@holdpoint/tools/tool';
import type { Workspaces } from '@holdpoint/workspace/port';

interface Deps {
  registry: Registry;
  sandbox: Sandbox;
  workspaces: Workspaces;
}

/** The engine's executor: calls of the registry's tools, inside the sandbox, on the run's workspace. */
export function createExecutor({ registry, sandbox, workspaces }: Deps): Executor {
  const contextOf = async (
    runId: string,
    call: { idempotencyKey: string; wallMs: number; signal: AbortSignal },
  ): Promise<ToolContext> => {
    const workspace = await mountOf(workspaces, runId);
    return {
      files: sandbox.files(workspace),
      ripgrep: sandbox.ripgrep,
      signal: call.signal,
      idempotencyKey: call.idempotencyKey,
      run: (command) =>
        sandbox.run({
          ...command,
          workspace,
          signal: call.signal,
          limits: { ...command.limits, wall_ms: Math.min(command.limits?.wall_ms ?? call.wallMs, call.wallMs) },
        }),
    };
  };

  return {
    describe: (call) => registry.describe(call),
    async preview(call, { runId, signal }) {
      const context = await contextOf(runId, { idempotencyKey: runId, wallMs: previewWallMs, signal });
      return (await registry.preview({ ...call, context })) ?? undefined;
    },
    async execute(call, { runId, stepId, wallMs, signal }) {
      const context = await contextOf(runId, { idempotencyKey: stepId, wallMs, signal });
      const outcome = await registry.execute({ ...call, context });
      return { capabilities: sandbox.capabilities, ...outcome };
    },
  };
}

const previewWallMs = 10_000;

async function mountOf(workspaces: Workspaces, runId: string): Promise<WorkspaceMount> {
  const { path, owner } = await workspaces.locate(runId);
  return { id: runId, path, uid: owner.uid, gid: owner.gid };
}
