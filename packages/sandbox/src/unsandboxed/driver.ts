import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outputsFolder } from '@holdpoint/contract';
import { identify, isAlive } from '@holdpoint/process';
import { gitEnvironment } from '../git-environment.ts';
import { killGroup, signalOfExitCode } from '../kill.ts';
import * as processes from '../process/index.ts';
import type { Driver, Tree, TreeEnd, TreeRequest } from '../tree.ts';

/** Time for output in the pipes to arrive. Usually the output arrives much sooner. */
const drainMs = 500;

export interface UnsandboxedDeps {
  records: processes.ProcessRecords;
  freezeLocks: processes.FreezeLocks;
  /** Whether the worker is root. Commands then at least run as the workspace's owner. */
  root: boolean;
  node: string;
  ripgrep: string;
  path: string;
  toolchains: readonly string[];
}

const uncounted: Pick<Tree, 'usage' | 'processes' | 'isAlive'> = {
  usage: () => null,
  processes: () => [],
  isAlive: () => true,
};

/** Runs programs without isolation, with the permission of the host's owner. */
export function unsandboxedDriver(deps: UnsandboxedDeps): Driver {
  return {
    name: 'none',
    cgroupLimits: null,
    release: async () => {},
    start: (request) => start(deps, request),
    root: (workspace) => workspace.path,
    outputs: (workspace) => workspace.outputs ?? outputsFolder,
    findOrphans: () => [], // a process outside its group looks like any other process
    async freeze(trees) {
      const leaders = trees.flatMap(([leader]) => (leader && isAlive(leader) ? [leader] : []));
      for (const { pid } of leaders) processes.sendSignal(-pid, 'SIGSTOP');
      await processes.freezeDescendants(leaders);
    },
    async thaw(trees) {
      const leaders = trees.flatMap(([leader]) => (leader && isAlive(leader) ? [leader] : []));
      processes.thawDescendants(leaders);
      for (const { pid } of leaders) processes.sendSignal(-pid, 'SIGCONT');
    },
    node: deps.node,
    ripgrep: deps.ripgrep,
    toolHost: fileURLToPath(new URL('../inside/tool-host/main.ts', import.meta.url)),
    toolHostFiles: [],
    toolchains: deps.toolchains,
    pathInside: (path) => path,
  };
}

function start(deps: UnsandboxedDeps, request: TreeRequest): Tree {
  const { workspace } = request;
  const [program, ...args] = request.argv;
  const cwd = join(workspace.path, request.cwd);
  const bins = deps.toolchains.map((path) => join(path, 'bin')).filter((path) => existsSync(path));
  const { started: subprocess, announcement } = deps.records.announced(request, () =>
    spawn(program, args, {
      cwd,
      env: {
        ...{
          PATH: [...(workspace.first?.bins ?? []), ...bins, deps.path, dirname(deps.node)].join(':'),
          HOME: '/tmp',
          LANG: 'C.UTF-8',
          TMPDIR: '/tmp',
        },
        ...gitEnvironment(fileURLToPath(new URL('../inside/etc/gitconfig', import.meta.url))),
        // All users share /tmp here.
        GIT_CONFIG_GLOBAL: '/dev/null',
        ...request.env,
      },
      stdio: [hasInput(request) ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true, // a separate process group, so a kill ends the whole group
      ...(deps.root ? { uid: workspace.uid, gid: workspace.gid } : {}),
    }),
  );
  const { stdin, stdout, stderr, pid } = subprocess;
  if (!stdout || !stderr) throw new TypeError('no stdout');
  stdin?.on('error', () => {}); // a program may ignore its input
  if (request.stdin !== null) stdin?.end(request.stdin);
  const failure = new Promise<string>((resolve) => subprocess.once('error', (error) => resolve(error.message)));
  if (pid === undefined) {
    deps.records.withdraw(announcement);
    const detail = failure.then((message) => `${program} could not be started in ${cwd}: ${message}`);
    return {
      stdin,
      stdout,
      stderr,
      ...uncounted,
      terminate: () => false,
      kill: () => {},
      settled: Promise.resolve(),
      ended: detail.then((text) => ({ status: 'setup_failed', detail: text })),
    };
  }
  const identity = identify(pid); // null when the program has ended already
  let overtaken = true;
  try {
    const { label } = request;
    overtaken = identity
      ? !deps.records.write(workspace.id, { first: identity, label, announcement })
      : !deps.records.withdraw(announcement);
  } finally {
    if (overtaken) killGroup(pid);
  }
  // The command has begun already, so the driver must stop the command. In a sandbox the command waits before its beginning.
  if (request.label !== null && deps.freezeLocks.isLocked(workspace.id)) {
    processes.sendSignal(-pid, 'SIGSTOP');
    if (!deps.freezeLocks.isLocked(workspace.id)) processes.sendSignal(-pid, 'SIGCONT');
  }
  if (!overtaken) request.onBegun?.();
  const exited = new Promise<TreeEnd>((resolve) =>
    subprocess.once('exit', (code, signal) =>
      resolve(
        code === null
          ? { status: 'exited', exit_code: 128 + (signal ? constants.signals[signal] : 0), signal }
          : { status: 'exited', exit_code: code, signal: signalOfExitCode(code) },
      ),
    ),
  );
  const finish = async (): Promise<TreeEnd> => {
    const end = await exited;
    killGroup(pid); // its background processes
    // A process outside the group may keep the streams open for ever.
    const timer = setTimeout(() => [stdout, stderr].map((stream) => stream.destroy()), drainMs);
    await Promise.all([processes.untilClosed(stdout), processes.untilClosed(stderr)]);
    clearTimeout(timer);
    const killed = identity !== null && deps.records.remove(workspace.id, identity).killed;
    return killed || overtaken ? { status: 'taken_over' } : end;
  };
  return {
    stdin,
    stdout,
    stderr,
    ...uncounted,
    terminate() {
      const isRunning = identity !== null && isAlive(identity);
      processes.sendSignal(-pid, 'SIGTERM');
      return isRunning;
    },
    kill: () => killGroup(pid),
    settled: Promise.resolve(),
    ended: finish(),
  };
}

const hasInput = ({ hostFiles, stdin, keepsInput = false }: TreeRequest): boolean =>
  hostFiles !== null || stdin !== null || keepsInput;
