import type { Executor } from '@holdpoint/engine/ports';
import type { Limits, Sandbox, WorkspaceMount } from '@holdpoint/sandbox/port';
import type { Registry } from '@holdpoint/tools/registry';
import type { ToolContext } from '@holdpoint/tools/tool';
import type { Workspaces } from '@holdpoint/workspace/port';
import { type CallNetwork, openCallNetwork } from './run-network.ts';
import { runValidator } from './run-validator.ts';

interface Deps {
  registry: Registry;
  sandbox: Sandbox;
  workspaces: Workspaces;
  /** Addresses beside the public ones that an allowlist may lead to. */
  allowAddresses: readonly string[];
}

/** The engine's executor: calls of the registry's tools, inside the sandbox, on the run's workspace. */
export function createExecutor({ registry, sandbox, workspaces, allowAddresses }: Deps): Executor {
  const contextOf = async (runId: string, call: CallBounds): Promise<ToolContext> => {
    const workspace = await mountOf(workspaces, runId);
    const { way, wallMs, limits, signal } = call;
    return {
      files: sandbox.files(workspace),
      ripgrep: sandbox.ripgrep,
      signal,
      idempotencyKey: call.idempotencyKey,
      ...(way === undefined ? {} : { network: way.network }),
      run: (command) =>
        sandbox.run({
          ...command,
          workspace,
          signal,
          ...(way === undefined ? {} : { egress: way.openProxy() }),
          limits: stricter({ ...limits, wall_ms: wallMs }, command.limits ?? {}),
        }),
    };
  };

  return {
    describe: (call) => registry.describe(call),
    async preview(call, { runId, signal }) {
      const context = await contextOf(runId, { idempotencyKey: runId, wallMs: previewWallMs, limits: {}, signal });
      return (await registry.preview({ ...call, context })) ?? undefined;
    },
    async execute(call, { runId, stepId, wallMs, limits, network, onConnection, signal }) {
      await using way = openCallNetwork({ network, onConnection }, { allowAddresses });
      const context = await contextOf(runId, { idempotencyKey: stepId, wallMs, limits, way, signal });
      const outcome = await registry.execute({ ...call, context });
      return { capabilities: sandbox.capabilities, ...outcome };
    },
    async validate(validator, { runId, limits, signal }) {
      return runValidator(sandbox, await mountOf(workspaces, runId), validator, { limits, signal });
    },
  };
}

/** What one call may take and reach. */
interface CallBounds {
  idempotencyKey: string;
  wallMs: number;
  limits: Partial<Limits>;
  way?: CallNetwork | undefined;
  signal: AbortSignal;
}

/** Of each limit that either side names, the smaller. */
function stricter(run: Partial<Limits>, call: Partial<Limits>): Partial<Limits> {
  const merged: Partial<Limits> = { ...run, ...call };
  for (const name of Object.keys(merged) as (keyof Limits)[]) {
    const bounds = [run[name], call[name]].filter((bound) => bound !== undefined);
    merged[name] = Math.min(...bounds);
  }
  return merged;
}

const previewWallMs = 10_000;

async function mountOf(workspaces: Workspaces, runId: string): Promise<WorkspaceMount> {
  const { path, owner } = await workspaces.locate(runId);
  return { id: runId, path, uid: owner.uid, gid: owner.gid };
}
