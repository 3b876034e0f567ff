import { SandboxError } from '../errors.ts';
import type { Limits } from '../port.ts';
import type { TreeRequest } from '../tree.ts';
import { BWRAP_ARGUMENTS, QUIET_BASH } from './command-line.ts';
import { descriptors, HIGHEST_DESCRIPTOR } from './descriptors.ts';
import type { Equipment } from './equipment.ts';
import type { HostTools } from './host-tools.ts';
import { profile } from './profile.ts';
import { planView, type View } from './view.ts';

export interface ChainDeps {
  tools: HostTools;
  /** The text of launch.sh and view.sh: they run before there is a sandbox, as a user who may not be able to read them. */
  scripts: { launch: string; view: string };
  equipment: Equipment;
  /** Null without one for this architecture. */
  filter: Buffer | null;
  tmpBytes: number;
  /** Whether the worker is root, so that the sandbox must run as the workspace's owner. */
  root: boolean;
}

export interface Chain {
  program: string;
  args: string[];
  /** For the descriptor of the same name. */
  options: string[];
  /** For the lifeline. */
  environment: string[];
}

/**
 * The programs that become one sandbox, each the next one's predecessor in the same process, so that the worker stays the parent and the
 * death signal comes from it: [unshare, view.sh,] setpriv (uid, death signal) → launch.sh (descriptors, environment) → bwrap → enter.sh
 * (limits) → the command.
 */
export function planChain(deps: ChainDeps, request: TreeRequest): Chain {
  const { workspace } = request;
  if (deps.root && (workspace.uid === 0 || workspace.gid === 0)) throw rootOwned(workspace.path);
  const mounts = [...deps.equipment.command, ...(request.toolHost ? deps.equipment.toolHost : [])];
  const view = deps.root
    ? planView([workspace.path, deps.tools.bwrap, ...mounts.map(({ host }) => host)], workspace)
    : null;
  const hostPath = (path: string) => view?.hostPath(path) ?? path;
  const command = [
    deps.tools.setpriv,
    // before bubblewrap: with the host's uid 0 it would act as root on every file that it can see
    ...(deps.root ? [`--reuid=${workspace.uid}`, `--regid=${workspace.gid}`, '--clear-groups'] : []),
    ...['--pdeathsig', 'KILL', '--', deps.tools.bash, ...QUIET_BASH, '-c', deps.scripts.launch, 'holdpoint'],
    ...[process.pid, HIGHEST_DESCRIPTOR, stdioMode(request)].map(String),
    ...[hostPath(deps.tools.bwrap), ...BWRAP_ARGUMENTS, ...enterArguments(deps, request.limits), ...request.argv],
  ];
  const [program = '', ...args] = view ? showFirst(deps, view, command) : command;
  const options = [
    ...profile({ ...deps, seccompDescriptor: deps.filter ? descriptors.filter : null, hostPath }, request),
    ...['--json-status-fd', String(descriptors.status)],
  ];
  return { program, args, options, environment: environment(deps.equipment, request.env) };
}

function stdioMode(request: TreeRequest): 'direct' | 'stdin' | 'output' {
  if (request.toolHost) return 'direct';
  return request.stdin ? 'stdin' : 'output';
}

function enterArguments(deps: ChainDeps, limits: Limits): string[] {
  const kib = (bytes: number) => Math.ceil(bytes / 1024);
  return [
    ...[descriptors.lifeline, deps.filter ? 2 : 0],
    ...[limits.processes, kib(limits.file_bytes), limits.open_files, kib(limits.memory_bytes), limits.cpu_seconds],
  ].map(String);
}

function environment(equipment: Equipment, env: Readonly<Record<string, string>>): string[] {
  const base = {
    PATH: [...equipment.path, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
  };
  return Object.entries({ ...base, ...env }).map(([name, value]) => `${name}=${value}`);
}

function showFirst({ tools, scripts }: ChainDeps, view: View, command: readonly string[]): string[] {
  if (!tools.unshare) {
    throw new SandboxError('ESANDBOXMISSING', `${view.sources.join(', ')} cannot be reached by the workspace's uid.`, {
      retryable: false,
      next: 'Install `unshare` (package `util-linux`), or move the data directory and the project out of closed directories.',
    });
  }
  return [
    ...[
      tools.unshare,
      '--mount',
      '--propagation',
      'private',
      '--',
      tools.bash,
      ...QUIET_BASH,
      '-c',
      scripts.view,
      'holdpoint',
    ],
    ...[view.mountPoint, ...view.sources, '--', ...command],
  ];
}

function rootOwned(path: string): SandboxError {
  return new SandboxError(
    'ESANDBOXSETUP',
    `The workspace ${path} is given to root, as which nothing may run in a sandbox.`,
    {
      retryable: false,
      next: 'Give the tree to a uid and gid of its own.',
    },
  );
}
