import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CapabilityReport } from '@holdpoint/contract';
import { identify, isAlive } from '@holdpoint/process';
import { gitEnvironment } from '../git-environment.ts';
import { closed } from '../process/closed.ts';
import type { Holds } from '../process/holds.ts';
import { killGroup } from '../process/kill.ts';
import type { ProcessRecords } from '../process/records.ts';
import { send, stopBelow, wakeBelow } from '../process/standstill.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { Driver, Tree, TreeEnd, TreeRequest } from '../tree.ts';

/** Output that is already in the pipes arrives in much less. */
const DRAIN_MS = 500;

export interface UnsandboxedDeps {
  records: ProcessRecords;
  holds: Holds;
  /** Whether the worker is root, so that commands can at least run as the workspace's owner. */
  root: boolean;
  node: string;
  ripgrep: string;
  path: string;
  toolchains: readonly string[];
}

const uncounted: Pick<Tree, 'usage' | 'processes'> = { usage: () => null, processes: () => [] };

/** Runs programs as they are. For hosts whose owner said that nothing needs to be isolated. */
export function unsandboxedDriver(deps: UnsandboxedDeps): Driver {
  return {
    name: 'none',
    held: null,
    release: async () => {},
    start: (request) => start(deps, request),
    root: (workspace) => workspace.path,
    findOrphans: () => [], // what leaves its process group cannot be told from others
    async freeze(trees) {
      const leaders = trees.flatMap(([leader]) => (leader && isAlive(leader) ? [leader] : []));
      for (const { pid } of leaders) send(-pid, 'SIGSTOP');
      await stopBelow(leaders);
    },
    async thaw(trees) {
      const leaders = trees.flatMap(([leader]) => (leader && isAlive(leader) ? [leader] : []));
      wakeBelow(leaders);
      for (const { pid } of leaders) send(-pid, 'SIGCONT');
    },
    node: deps.node,
    ripgrep: deps.ripgrep,
    toolHost: fileURLToPath(new URL('../inside/tool-host/main.ts', import.meta.url)),
  };
}

/** @param reason why nothing better is in use, for the report's notes */
export function unsandboxedReport(reason: string): CapabilityReport {
  const absent = 'absent' as const;
  return {
    driver: 'none',
    ...{
      fs: absent,
      net: absent,
      pids: absent,
      memory: absent,
      cpu: absent,
      disk: absent,
      seccomp: absent,
      uid_drop: absent,
    },
    notes: [`Commands run without isolation, as allowUnsandboxed permits. ${reason}`],
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
        ...{ PATH: [dirname(deps.node), ...bins, deps.path].join(':'), HOME: '/tmp', LANG: 'C.UTF-8', TMPDIR: '/tmp' },
        ...gitEnvironment(fileURLToPath(new URL('../inside/etc/gitconfig', import.meta.url))),
        // /tmp is everyone's here.
        GIT_CONFIG_GLOBAL: '/dev/null',
        ...request.env,
      },
      stdio: [request.toolHost || request.stdin !== null ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true, // its own process group, which is what kill ends
      ...(deps.root ? { uid: workspace.uid, gid: workspace.gid } : {}),
    }),
  );
  const { stdin, stdout, stderr, pid } = subprocess;
  if (!stdout || !stderr) throw new TypeError('no stdout');
  stdin?.on('error', () => {}); // a program need not read its input
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
      terminate: () => {},
      kill: () => {},
      ended: detail.then((text) => ({ status: 'setup_failed', detail: text })),
    };
  }
  const identity = identify(pid); // null when it has ended already
  try {
    if (identity) deps.records.write(workspace.id, [identity], request.label);
  } catch (error) {
    killGroup(pid);
    throw error;
  }
  const overtaken = !deps.records.withdraw(announcement);
  if (overtaken) killGroup(pid);
  // it has begun already, and cannot wait as those in a sandbox do
  if (request.label !== null && deps.holds.isHeld(workspace.id)) {
    send(-pid, 'SIGSTOP');
    if (!deps.holds.isHeld(workspace.id)) send(-pid, 'SIGCONT');
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
    killGroup(pid); // what it left in the background
    // what left the group may hold the streams open for ever
    const timer = setTimeout(() => [stdout, stderr].map((stream) => stream.destroy()), DRAIN_MS);
    await Promise.all([closed(stdout), closed(stderr)]);
    clearTimeout(timer);
    const killed = identity !== null && deps.records.remove(workspace.id, identity).killed;
    return killed || overtaken ? { status: 'taken_over' } : end;
  };
  return {
    stdin,
    stdout,
    stderr,
    ...uncounted,
    terminate: () => send(-pid, 'SIGTERM'),
    kill: () => killGroup(pid),
    ended: finish(),
  };
}
