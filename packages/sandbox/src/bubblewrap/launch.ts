import type { PipePool } from '../process/index.ts';
import type { Tree, TreeEnd, TreeRequest } from '../tree.ts';
import { type ExecChainDeps, planExecChain } from './exec-chain.ts';
import { SandboxProcess, type SandboxProcessDeps } from './sandbox-process.ts';
import { type SpawnedChain, spawnChain } from './spawn-chain.ts';

export interface LaunchDeps extends SandboxProcessDeps, Omit<ExecChainDeps, 'cgroupLimits' | 'cgroupFds'> {
  pipes: PipePool;
}

/** Starts one sandbox. */
export function launch(deps: LaunchDeps, request: TreeRequest): Tree {
  const { cgroups, records } = deps;
  deps.tools.integrity.check();
  const chain = planExecChain(
    { ...deps, cgroupLimits: cgroups?.limits ?? null, cgroupFds: cgroups?.fdCount ?? 0 },
    request,
  );
  const { started, announcement } = records.announced(request, () => {
    const group = cgroups?.make(request.limits, request.workspace.id) ?? null;
    const removeGroup = () => {
      if (group) cgroups?.remove(group);
    };
    try {
      return { group, removeGroup, spawned: spawnChain(deps, { chain, request, group }) };
    } catch (error) {
      removeGroup();
      throw error;
    }
  });
  const { group, removeGroup, spawned } = started;
  const failure = new Promise<string>((resolve) => spawned.subprocess.once('error', ({ message }) => resolve(message)));
  const { pid } = spawned.subprocess;
  if (pid === undefined) {
    removeGroup();
    records.withdraw(announcement);
    return failedTree(spawned, failure);
  }
  const sandbox = new SandboxProcess(deps, { pid, spawned, announcement, command: chain.command, request });
  let total: ReturnType<Tree['usage']> = null;
  const ended = sandbox.end().finally(() => {
    total = group?.usage() ?? null;
    removeGroup();
  });
  return {
    ...{ stdin: spawned.stdin, stdout: spawned.stdout, stderr: spawned.stderr, ended },
    kill: () => sandbox.kill(),
    terminate: () => sandbox.terminate(),
    usage: () => total ?? group?.usage() ?? null,
    processes: () => group?.processes() ?? sandbox.processes(),
  };
}

/** The operating system refused to start even the first program: argument list too long, or no more processes. */
function failedTree({ stdout, stderr }: SpawnedChain, message: Promise<string>): Tree {
  const ended = message.then((detail): TreeEnd => ({ status: 'setup_failed', detail }));
  const rest = { usage: () => null, processes: () => [], terminate: () => {}, kill: () => {} };
  return { stdin: null, stdout, stderr, ...rest, ended };
}
