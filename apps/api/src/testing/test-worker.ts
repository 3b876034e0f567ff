import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nothingEnforced } from '@holdpoint/contract';
import { type EngineDeps, openOutputStore } from '@holdpoint/engine';
import { listSteps, readTasks } from '@holdpoint/engine/testing';
import {
  handleStep,
  handleTask,
  handleTurn,
  handleWorkspace,
  type Planner,
  scriptedPlanner,
  type WorkerDeps,
} from '@holdpoint/engine/worker';
import { createWorkspacePort } from '@holdpoint/runtime';
import { noSecrets } from '@holdpoint/secrets/testing';
import { openWorkspaces, type Workspaces } from '@holdpoint/workspace';

/** Advances runs when a test calls it, with the engine's handlers and real workspaces. */
export interface TestWorker {
  /** Plans the next turn and opens its gates. */
  plan(runId: string): Promise<void>;
  /** Runs every step that is queued. */
  execute(runId: string): Promise<void>;
  /** Makes the results that callers want to see of held calls. */
  show(runId: string): Promise<void>;
  /** Plans and executes until the run ends or waits. */
  drive(runId: string): Promise<void>;
  /** Publishes, discards or brings files back, as the log says. */
  tend(runId: string): Promise<void>;
  /** Runs the background commands that are queued. */
  background(runId: string): Promise<void>;
  workspaces: Workspaces;
}

/** @param model plans the runs of models. @default their plan */
export function testWorker(engine: EngineDeps, dataDir: string, model: Planner = scriptedPlanner): TestWorker {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const workspaces = openWorkspaces({ dataDir, allocateOwner: () => owner });
  const deps: WorkerDeps = {
    ...engine,
    workerId: 'test-worker',
    planners: { scripted: scriptedPlanner, model },
    executor: executorOn(workspaces),
    workspaces: createWorkspacePort(workspaces, noSandbox, noSecrets),
    outputs: openOutputStore(join(dataDir, 'outputs')),
    metrics: { repaired: () => {} },
    retention: {},
    confirmInstallation: async () => {},
  };
  const context = { signal: new AbortController().signal, lastTry: true };

  const plan = async (runId: string): Promise<void> => {
    const { run } = await listSteps(deps, runId);
    await handleTurn(deps, { run_id: runId, turn: run.turn + 1 }, context);
  };
  const handle = async (runId: string, status: 'queued' | 'parked'): Promise<void> => {
    const { steps } = await listSteps(deps, runId);
    for (const step of steps) {
      if (step.status === status) await handleStep(deps, { run_id: runId, step_id: step.id }, context);
    }
  };
  const execute = (runId: string): Promise<void> => handle(runId, 'queued');
  return {
    plan,
    execute,
    show: (runId) => handle(runId, 'parked'),
    async drive(runId) {
      for (;;) {
        const { run, steps } = await listSteps(deps, runId);
        if (run.status !== 'running' && run.status !== 'queued') return;
        if (steps.some((step) => step.status === 'queued')) await execute(runId);
        else await plan(runId);
      }
    },
    async tend(runId) {
      await handleWorkspace(deps, { run_id: runId }, context);
    },
    async background(runId) {
      for (const task of await readTasks(deps.redis, runId)) {
        await handleTask(deps, { run_id: runId, task_id: task.id }, context);
      }
    },
    workspaces,
  };
}

/** Writes files and runs commands in this process, without a sandbox. */
function executorOn(workspaces: Workspaces): WorkerDeps['executor'] {
  return {
    resolvePaths: async (paths) => paths,
    asks: async () => undefined,
    preview: async ({ tool }) => ({ kind: 'command', command: tool, cwd: '.', network: [] }),
    async execute({ tool, args }, { runId, epoch, taskId }) {
      if (tool === 'bash' && (args as { run_in_background?: boolean }).run_in_background) {
        const { command } = args as { command: string };
        const task = { kind: 'shell' as const, title: command, spec: { command } };
        return { status: 'succeeded', value: { task_id: taskId }, touched: [], task };
      }
      if (tool !== 'write_file') return { status: 'failed', error: { code: 'ETEST', message: `no ${tool} here` } };
      const { path, content } = args as { path: string; content: string };
      const file = join((await workspaces.locate({ runId, epoch })).path, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      return { status: 'succeeded', value: { bytes: content.length, content }, capabilities: nothingEnforced };
    },
    async validate({ name, command }, { runId, epoch, signal }) {
      const { path: cwd } = await workspaces.locate({ runId, epoch });
      const { code, stdout, stderr } = await bash(command, { cwd, signal });
      return {
        ...{ name: name ?? command, command, exit_code: code, detail: null, duration_ms: 1 },
        status: code === 0 ? 'passed' : 'failed',
        ...{ stdout, stdout_bytes: stdout.length, stderr, stderr_bytes: stderr.length },
        capabilities: nothingEnforced,
      };
    },
    async runTask({ command }, { runId, epoch, output, signal }) {
      const { path: cwd } = await workspaces.locate({ runId, epoch });
      const { code, stdout, stderr } = await bash(command, { cwd, signal });
      output.write('stdout', Buffer.from(stdout));
      output.write('stderr', Buffer.from(stderr));
      return { status: code === 0 ? 'completed' : 'failed', exit_code: code };
    },
    killTask: async () => {},
    toolchains: async () => [],
    prepareKey: async () => undefined,
    async prepare(command, { runId, epoch, signal }) {
      const { path: cwd } = await workspaces.locate({ runId, epoch });
      const { code, stdout } = await bash(command, { cwd, signal });
      return { succeeded: code === 0, exit_code: code, detail: null, output: stdout, duration_ms: 1 };
    },
  };
}

const bash = (command: string, options: { cwd: string; signal: AbortSignal }) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile('/bin/bash', ['-c', command], options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });

/** For workspaces on which no sandboxed process runs. */
const noSandbox: Parameters<typeof createWorkspacePort>[1] = {
  withFrozen: (_workspaceId, action) => action(0),
  killAll: async () => {},
};
