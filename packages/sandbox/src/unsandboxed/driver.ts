import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CapabilityReport } from '../port.ts';
import { identify, killGroup } from '../process/identity.ts';
import type { ProcessRecords } from '../process/records.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { Driver, Tree, TreeEnd, TreeRequest } from '../tree.ts';

export interface UnsandboxedDeps {
  records: ProcessRecords;
  /** Whether the worker is root, so that commands can at least run as the workspace's owner. */
  root: boolean;
  node: string;
  ripgrep: string;
  path: string;
  toolchains: readonly string[];
}

/** Runs programs as they are. For hosts whose owner said that nothing needs to be isolated. */
export function unsandboxedDriver(deps: UnsandboxedDeps): Driver {
  return {
    name: 'none',
    start: (request) => start(deps, request),
    root: (workspace) => workspace.path,
    findOrphans: () => [], // what leaves its process group cannot be told from others
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
  const subprocess = spawn(program, args, {
    cwd,
    env: {
      ...{ PATH: [dirname(deps.node), ...bins, deps.path].join(':'), HOME: '/tmp', LANG: 'C.UTF-8', TMPDIR: '/tmp' },
      ...request.env,
    },
    stdio: [request.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true, // its own process group, which is what kill ends
    ...(deps.root ? { uid: workspace.uid, gid: workspace.gid } : {}),
  });
  const { stdin, stdout, stderr, pid } = subprocess;
  if (!stdout || !stderr) throw new TypeError('no stdout');
  const failure = new Promise<string>((resolve) => subprocess.once('error', (error) => resolve(error.message)));
  const identity = pid === undefined ? null : identify(pid);
  if (pid === undefined || !identity) {
    const missing = `${program} could not be started in ${cwd}: `;
    return {
      stdin,
      stdout,
      stderr,
      kill: () => {},
      ended: failure.then((detail) => ({ status: 'setup_failed', detail: missing + detail })),
    };
  }
  deps.records.write(workspace.id, [identity]);
  const finish = async (): Promise<TreeEnd> => {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      subprocess.once('exit', (...end) => resolve(end)),
    );
    killGroup(pid); // what it left in the background
    stdout.destroy();
    stderr.destroy();
    if (deps.records.remove(workspace.id, identity).killed) return { status: 'taken_over' };
    if (code === null) return { status: 'exited', exit_code: 137, signal };
    return { status: 'exited', exit_code: code, signal: signalOfExitCode(code) };
  };
  return { stdin, stdout, stderr, kill: () => killGroup(pid), ended: finish() };
}
