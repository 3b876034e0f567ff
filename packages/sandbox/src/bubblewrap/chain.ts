import type { Held } from '../cgroup/cgroups.ts';
import { SandboxError } from '../errors.ts';
import { gitEnvironment } from '../git-environment.ts';
import type { WorkspaceMount } from '../port.ts';
import type { TreeRequest } from '../tree.ts';
import { BWRAP_ARGUMENTS, QUIET_BASH } from './command-line.ts';
import { descriptors } from './descriptors.ts';
import { type Equipment, INSIDE, STDIN_FILE } from './equipment.ts';
import type { HostTools } from './host-tools.ts';
import { PROXY_PORT } from './inside-listener.ts';
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
  /** What a control group bounds already. @default nothing */
  held?: Held | null;
  /** Through how many doors the command enters its control groups. @default 0 */
  doors?: number;
}

export interface Chain {
  program: string;
  args: string[];
  /** Of the first program. */
  start: { env: Record<string, string>; argv0?: string; uid?: number; gid?: number };
  /** For the descriptor of the same name. */
  options: string[];
  /** What the worker answers on the lifeline: the command and its environment, in the form that enter.sh reads. */
  command: Buffer;
}

/**
 * The programs that become one sandbox, each the next one's predecessor in the same process, so that the worker stays the parent and the
 * death signal comes from it: bwrap → enter.sh (descriptors, control group, limits) → the command. Where the owner cannot reach what it
 * must see: unshare → view.sh → setpriv (uid, death signal) → launch.sh (environment) → bwrap → …
 */
export function planChain(deps: ChainDeps, request: TreeRequest): Chain {
  const { workspace } = request;
  if (deps.root && (workspace.uid === 0 || workspace.gid === 0)) throw rootOwned(workspace.path);
  const mounts = [...deps.equipment.command, ...(request.toolHost ? deps.equipment.toolHost : [])];
  const shown = [workspace.path, ...Object.values(workspace.repository ?? {}), ...mounts.map(({ host }) => host)];
  const view = deps.root ? planView([deps.tools.bwrap, ...shown], workspace) : null;
  const hostPath = (path: string) => view?.hostPath(path) ?? path;
  const bwrapArguments = [...BWRAP_ARGUMENTS, ...enterArguments(deps, request)];
  return {
    ...(view ? throughView(deps, { view, workspace, bwrapArguments }) : direct(deps, { workspace, bwrapArguments })),
    options: [
      ...profile({ ...deps, seccompDescriptor: deps.filter ? descriptors.filter : null, hostPath }, request),
      ...['--json-status-fd', String(descriptors.status)],
    ],
    command: encodeCommand(
      environment(deps.equipment, { ...request.egress?.environment(PROXY_PORT), ...request.env }),
      request.argv,
    ),
  };
}

type First = Pick<Chain, 'program' | 'args' | 'start'>;

/**
 * The uid goes before bubblewrap: with the host's uid 0 it would act as root on every file that it can see. Its environment is empty,
 * because programs inside can read that of its first process. It asks for the death signal itself; should the worker be gone by then,
 * enter.sh gets no answer and ends.
 */
function direct(deps: ChainDeps, input: { workspace: WorkspaceMount; bwrapArguments: string[] }): First {
  const { uid, gid } = input.workspace;
  return {
    program: deps.tools.bwrap,
    args: input.bwrapArguments,
    start: { env: {}, argv0: 'bwrap', ...(deps.root ? { uid, gid } : {}) },
  };
}

function throughView(
  { tools, scripts }: ChainDeps,
  { view, workspace, bwrapArguments }: { view: View; workspace: WorkspaceMount; bwrapArguments: string[] },
): First {
  if (!tools.unshare || !tools.setpriv) {
    throw new SandboxError('ESANDBOXMISSING', `${view.sources.join(', ')} cannot be reached by the workspace's uid.`, {
      retryable: false,
      next: 'Install `unshare` and `setpriv` (package `util-linux`), or move the data directory and the project out of closed directories.',
    });
  }
  return {
    program: tools.unshare,
    args: [
      ...['--mount', '--propagation', 'private', '--', tools.bash, ...QUIET_BASH, '-c', scripts.view, 'holdpoint'],
      ...[view.mountPoint, ...view.sources, '--'],
      ...[tools.setpriv, `--reuid=${workspace.uid}`, `--regid=${workspace.gid}`, '--clear-groups'],
      ...['--pdeathsig', 'KILL', '--', tools.bash, ...QUIET_BASH, '-c', scripts.launch, 'holdpoint'],
      ...[String(process.pid), view.hostPath(tools.bwrap), ...bwrapArguments],
    ],
    // only for the programs before bubblewrap, which itself starts without any
    start: { env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } },
  };
}

function enterArguments(deps: ChainDeps, { limits, egress, stdin }: TreeRequest): string[] {
  const kib = (bytes: number) => Math.ceil(bytes / 1024);
  // Where the group bounds the whole command, a bound of each process is only a second line, which must not strike first: its refusals
  // look like any other failure. And RLIMIT_DATA counts memory that is reserved but never touched.
  const processes = deps.held?.processes ? limits.processes + 64 : limits.processes;
  const memory = deps.held?.memory ? 'unlimited' : kib(limits.memory_bytes);
  return [
    ...[descriptors.lifeline, deps.doors ?? 0, egress ? PROXY_PORT : 0, stdin === null ? '' : STDIN_FILE],
    ...[processes, kib(limits.file_bytes), limits.open_files, memory, limits.cpu_seconds],
  ].map(String);
}

function environment(equipment: Equipment, env: Readonly<Record<string, string>>): string[] {
  const base = {
    PATH: [...equipment.path, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    ...gitEnvironment(`${INSIDE}/inside/etc/gitconfig`),
  };
  return Object.entries({ ...base, ...env }).map(([name, value]) => `${name}=${value}`);
}

function encodeCommand(variables: readonly string[], argv: readonly string[]): Buffer {
  const records = [...variables, ...argv].map((record) => Buffer.from(record));
  const header = [variables.length, ...records.map(({ length }) => length)].join(' ');
  return Buffer.concat([Buffer.from(`${header}\n`), ...records]);
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
