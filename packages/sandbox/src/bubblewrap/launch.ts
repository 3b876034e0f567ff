import type { Cgroups } from '../cgroup/cgroups.ts';
import type { PipePool } from '../process/index.ts';
import type { PassedFile } from '../starter/protocol.ts';
import type { Starter } from '../starter/starter.ts';
import { isNested } from '../still-start.ts';
import type { Tree, TreeRequest } from '../tree.ts';
import { type ExecChain, type ExecChainDeps, planExecChain } from './exec-chain.ts';
import { SandboxProcess, type SandboxProcessDeps } from './sandbox-process.ts';
import type { SetUp, Spares } from './spares.ts';
import { startChain } from './start-chain.ts';

export interface LaunchDeps
  extends SandboxProcessDeps,
    Omit<ExecChainDeps, 'cgroupLimits' | 'cgroupFds' | 'hasFilter' | 'parent'> {
  /** Null where this host allows no control groups. */
  cgroups: Cgroups | null;
  pipes: PipePool;
  starter: Starter;
  spares: Spares;
  /** The system call filter. Null where this architecture has none. */
  filter: PassedFile | null;
}

/** Starts one program in a sandbox: a spare that fits, or else a new one. Its own end makes the next spare of the workspace. */
export function launch(deps: LaunchDeps, request: TreeRequest): Tree {
  deps.tools.integrity.check();
  const chain = planChain(deps, request);
  const { sandbox, tree } = deps.spares.take(request, chain) ?? setUp(deps, { chain, request });
  sandbox.assign({ ...request, command: chain.command });
  tree.ended.then(
    ({ status }) => {
      // After a kill or a stop nothing of the workspace may run: it may be removed.
      if (status === 'exited' && !sandbox.wasKilled) prepareSpare(deps, request);
    },
    () => {},
  );
  return tree;
}

/** Reports no error: a command for which nothing is prepared starts cold, and then reports what fails. */
function prepareSpare(deps: LaunchDeps, request: TreeRequest): void {
  const { workspace } = request;
  // A background command could move the folders that its mounts lie below.
  if (isNested(workspace) && deps.records.labelled(workspace.id).length > 0) return;
  try {
    deps.tools.integrity.check();
    const chain = planChain(deps, request);
    deps.spares.prepare(request, chain, () => setUp(deps, { chain, request: { ...request, label: null } }));
  } catch {
    // The next command starts cold.
  }
}

function planChain(deps: LaunchDeps, request: TreeRequest): ExecChain {
  const { cgroups, filter, starter } = deps;
  return planExecChain(
    {
      ...deps,
      hasFilter: filter !== null,
      parent: starter.pid,
      cgroupLimits: cgroups?.limits ?? null,
      cgroupFds: cgroups?.fdCount ?? 0,
    },
    request,
  );
}

/** Starts a sandbox that waits for its command. */
function setUp(deps: LaunchDeps, { chain, request }: { chain: ExecChain; request: TreeRequest }): SetUp {
  const { cgroups } = deps;
  const isWeighted = cgroups?.limits.cpu ?? false;
  const { started, announcement } = deps.records.announced(request, () => {
    const group = cgroups?.make(request.limits, request.workspace.id) ?? null;
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
  };
  return { sandbox, tree };
}
