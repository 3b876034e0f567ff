import type { ProcessIdentity } from '@holdpoint/process';
import type { Cgroups } from '../cgroup/cgroups.ts';
import { isNested } from '../frozen-start.ts';
import type { PipePool } from '../process/index.ts';
import type { PassedFile } from '../starter/protocol.ts';
import type { Starter } from '../starter/starter.ts';
import type { Tree, TreeRequest } from '../tree.ts';
import { type ExecChain, type ExecChainDeps, planExecChain } from './exec-chain.ts';
import { SandboxProcess, type SandboxProcessDeps } from './sandbox-process.ts';
import { type SealDeps, seal } from './seal.ts';
import { bindingOf, type SetUp, type Spares } from './spares.ts';
import { startChain } from './start-chain.ts';

export interface LaunchDeps
  extends SandboxProcessDeps,
    Omit<ExecChainDeps, 'cgroupLimits' | 'cgroupFds' | 'hasFilter'> {
  /** Null when this host allows no control groups. */
  cgroups: Cgroups | null;
  pipes: PipePool;
  starter: Starter;
  spares: Spares;
  /** The system call filter. Null when there is no filter for this architecture. */
  filter: PassedFile | null;
}

/**
 * Starts one program in a sandbox: in a fitting spare, or else in a new sandbox. When the program begins, `launch` prepares the next spare
 * of the workspace. When the program ends by itself and the spare is gone (idle, killed), `launch` prepares another spare.
 */
export function launch(deps: LaunchDeps, request: TreeRequest): Tree {
  deps.tools.integrity.check();
  const chain = planChain(deps, request);
  const binding = bindingOf(request, chain);
  const spare = deps.spares.take(request, binding);
  const { sandbox, tree } = spare ?? setUp(deps, { chain, request });
  let hasEnded = false;
  const onBegun = () => {
    request.onBegun?.();
    // Deferred, so enter.sh gets the command first.
    setImmediate(() => {
      if (!hasEnded && !sandbox.wasKilled) prepareSpare(deps, { chain, request, binding });
    });
  };
  sandbox.assign({ ...request, command: chain.command, onBegun });
  if (request.hostFiles !== null) return tree;
  const ended = tree.ended.finally(() => {
    hasEnded = true;
  });
  return { ...tree, ended: withSpare(deps, { request, sandbox, ended }) };
}

/**
 * After a kill or a stop no process of the workspace may run, because the workspace may be removed. After another end the next command gets
 * a spare.
 */
async function withSpare(
  deps: LaunchDeps,
  { request, sandbox, ended }: { request: TreeRequest; sandbox: SandboxProcess; ended: Tree['ended'] },
): Tree['ended'] {
  let mayHaveSpare = false;
  try {
    const end = await ended;
    mayHaveSpare = end.status === 'exited' && !sandbox.wasKilled;
    return end;
  } finally {
    const { workspace, only } = request;
    if (!mayHaveSpare) await deps.spares.drop(workspace.id);
    else if (!deps.spares.keep(request)) prepareNextSpare(deps, request);
    // A writing command's spare waits while read-only commands run. Each read-only command restarts the spare's waiting time.
    if (mayHaveSpare && only !== undefined) deps.spares.keep({ workspace, only: undefined });
  }
}

interface Planned {
  chain: ExecChain;
  request: TreeRequest;
}

/** Plans again, because folders shown in the command's view may have been replaced since the first plan. */
function prepareNextSpare(deps: LaunchDeps, request: TreeRequest): void {
  try {
    const chain = planChain(deps, request);
    prepareSpare(deps, { chain, request, binding: bindingOf(request, chain) });
  } catch {
    // The next command reports the error.
  }
}

/** Reports no error: without a spare the next command starts cold, and reports the error. */
function prepareSpare(deps: LaunchDeps, { chain, request, binding }: Planned & { binding: string | null }): void {
  const { workspace } = request;
  if (binding === null) return;
  // A background command could move folders above the mount points of the spare.
  if (isNested(workspace) && deps.records.labelled(workspace.id).length > 0) return;
  try {
    deps.tools.integrity.check();
    deps.spares.prepare(request, binding, () => setUp(deps, { chain, request: { ...request, label: null } }));
  } catch {
    // The next command starts cold.
  }
}

function planChain(deps: LaunchDeps, request: TreeRequest): ExecChain {
  const { cgroups, filter } = deps;
  return planExecChain(
    {
      ...deps,
      hasFilter: filter !== null,
      cgroupLimits: cgroups?.limits ?? null,
      cgroupFds: cgroups?.fdCount ?? 0,
    },
    request,
  );
}

const sealWith = (deps: SealDeps) => (first: ProcessIdentity) => seal(deps, first);

const groupOf = ({ workspace, hostFiles }: TreeRequest) => ({ workspace: workspace.id, isOwn: hostFiles !== null });

/** Starts a sandbox without a command. */
function setUp(deps: LaunchDeps, { chain, request }: Planned): SetUp {
  const { cgroups } = deps;
  const isWeighted = cgroups?.limits.cpu ?? false;
  const { started, announcement } = deps.records.announced(request, () => {
    const group = cgroups?.make(request.limits, groupOf(request)) ?? null;
    const removeGroup = () => {
      if (group) cgroups?.remove(group);
    };
    try {
      return { group, removeGroup, started: startChain({ ...deps, isWeighted }, { chain, request, group }) };
    } catch (error) {
      removeGroup();
      throw error;
    }
  });
  const { group, removeGroup, started: running } = started;
  const input = {
    ...{ announcement, workspaceId: request.workspace.id, label: request.label, listens: request.egress !== null },
    sourceFolders: request.workspace.sourceFolders ?? [],
    seal: request.only === undefined ? undefined : sealWith({ starter: deps.starter, perl: deps.tools.perl }),
  };
  const sandbox = new SandboxProcess(deps, input, running);
  let total: ReturnType<Tree['usage']> = null;
  const ended = sandbox.end().finally(() => {
    total = group?.usage() ?? null;
    removeGroup();
  });
  const tree: Tree = {
    ...{ stdin: running.stdin, stdout: running.stdout, stderr: running.stderr, settled: sandbox.settled, ended },
    kill: () => sandbox.kill(),
    terminate: () => sandbox.terminate(),
    usage: () => total ?? group?.usage() ?? null,
    processes: () => group?.processes() ?? sandbox.processes(),
    isAlive: () => sandbox.isAlive,
  };
  return { sandbox, tree };
}
