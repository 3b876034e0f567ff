import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EngineDeps, WorkerDeps } from '@holdpoint/engine/deps';
import { handlePublication } from '@holdpoint/engine/handlers/handle-publication';
import { handleStep } from '@holdpoint/engine/handlers/handle-step';
import { handleTurn } from '@holdpoint/engine/handlers/handle-turn';
import { scriptedPlanner } from '@holdpoint/engine/planners/scripted';
import { listSteps } from '@holdpoint/engine/queries/list-steps';
import { createRegistry } from '@holdpoint/tools/registry';
import { holdpoint } from '@holdpoint/tools/toolsets/holdpoint';
import { openWorkspaces } from '@holdpoint/workspace/open-workspaces';
import { sourceSchema } from '@holdpoint/workspace/port';

/** Moves runs on when a test says so, with the engine's own handlers on real workspaces. */
export interface TestWorker {
  /** Plans the next turn and opens its gates. */
  plan(runId: string): Promise<void>;
  /** Runs every step that is queued. */
  execute(runId: string): Promise<void>;
  /** Plans and executes until the run ends or waits. */
  drive(runId: string): Promise<void>;
  /** Publishes or discards, as the log says. */
  publish(runId: string): Promise<void>;
}

export function testWorker(engine: EngineDeps, dataDir: string): TestWorker {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const workspaces = openWorkspaces({ dataDir, allocateOwner: () => owner });
  const catalog = createRegistry([holdpoint]);
  const deps: WorkerDeps = {
    ...engine,
    workerId: 'test-worker',
    planners: { scripted: scriptedPlanner, model: scriptedPlanner },
    executor: {
      describe: (call) => catalog.describe(call),
      preview: async ({ tool }) => ({ kind: 'command', command: tool }),
      async execute({ tool, args }, { runId }) {
        if (tool !== 'write_file') return { status: 'failed', error: { code: 'ETEST', message: `no ${tool} here` } };
        const { path, content } = args as { path: string; content: string };
        const file = join((await workspaces.locate(runId)).path, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content);
        return { status: 'succeeded', value: { bytes: content.length, content }, capabilities: { isolation: 'none' } };
      },
    },
    workspaces: {
      async materialise({ runId, source, signal }) {
        const made = await workspaces.materialise({ runId, source: sourceSchema.parse(source), signal });
        const { id, base_commit, files, bytes, skipped } = made;
        return { snapshot: id, base_commit, files, bytes, skipped: skipped.length };
      },
      async snapshot(input) {
        const { id, files_changed, skipped } = await workspaces.snapshot(input);
        return { snapshot: id, files_changed, skipped: skipped.length };
      },
      quiesce: async () => {},
      restore: (input) => workspaces.restore(input),
      publish: (input) => workspaces.publish(input),
      discard: (runId) => workspaces.discard(runId),
    },
  };
  const context = { signal: new AbortController().signal, lastTry: true };

  const plan = async (runId: string): Promise<void> => {
    const { run } = await listSteps(deps, runId);
    await handleTurn(deps, { run_id: runId, turn: run.turn + 1 }, context);
  };
  const execute = async (runId: string): Promise<void> => {
    const { steps } = await listSteps(deps, runId);
    for (const step of steps) {
      if (step.status === 'queued') await handleStep(deps, { run_id: runId, step_id: step.id }, context);
    }
  };
  return {
    plan,
    execute,
    async drive(runId) {
      for (;;) {
        const { run, steps } = await listSteps(deps, runId);
        if (run.status !== 'running' && run.status !== 'queued') return;
        if (steps.some((step) => step.status === 'queued')) await execute(runId);
        else await plan(runId);
      }
    },
    async publish(runId) {
      await handlePublication(deps, { run_id: runId }, context);
    },
  };
}
