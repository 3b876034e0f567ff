import { join } from 'node:path';
import type { CgroupLimits } from '../cgroup/cgroups.ts';
import { gitEnvironment } from '../git-environment.ts';
import { repositoryMounts } from '../repository.ts';
import type { StartRequest } from '../starter/protocol.ts';
import type { Starter } from '../starter/starter.ts';
import { SandboxError, type TreeRequest, type WorkspaceMount } from '../tree.ts';
import type { HostTools } from './host-tools.ts';
import { type MountRemap, planMountRemap } from './mount-remap.ts';
import { planMountView } from './mount-view.ts';
import { certificateFile, firstBin, holdpointDirectory, type Mounts, stdinFile } from './mounts.ts';
import { bwrapArguments, inheritedFds, profile, quietBash, shownFiles, sourceFolderPaths } from './profile.ts';
import { proxyPort } from './proxy-port.ts';
import { wallFiles } from './wall.ts';

export interface ExecChainDeps {
  tools: HostTools;
  /** Texts of mount-remap.sh and mount-view.sh. */
  remapScript: string;
  viewScript: string;
  /** The starter makes the views of remaps and keeps them open. */
  starter: Pick<Starter, 'view'>;
  mounts: Mounts;
  /** Whether there is a system call filter for this architecture. */
  hasFilter: boolean;
  tmpBytes: number;
  /** Whether the worker is root. The sandbox then runs as the workspace's owner. */
  root: boolean;
  /** Limits enforced by the command's control group. @default none */
  cgroupLimits?: CgroupLimits | null;
  /** Number of control group files for the command to inherit. @default 0 */
  cgroupFds?: number;
}

export interface ExecChain {
  program: string;
  args: string[];
  /** The starter's view to start the first program in. */
  view: StartRequest['view'];
  /** Spawn options of the first program. */
  start: { env: Record<string, string>; argv0?: string; uid?: number; gid?: number };
  /** All inputs of the set-up except `options`. A remap and its view have the same inputs. */
  setUp: unknown[];
  /** Content of `inheritedFds.options`. */
  options: string[];
  /** Host paths mounted in the sandbox, host paths hidden by these mounts, and the working directory. */
  mounted: string[];
  /** The worker's answer on `inheritedFds.control`: the command and its environment, in the format of enter.sh. */
  command: Buffer;
}

/**
 * Plans the chain of programs for one sandbox. Each program executes the next in the same process, so the starter stays the parent. The
 * starter dies with the worker, and the kernel then sends the death signal to the sandbox.
 *
 * - Usually: bwrap → enter.sh (fds, control group, limits) → the command.
 * - When the owner cannot reach a path: nsenter (a view with the mounts, uid) → bwrap → … For a tree on its own mount, enter-with-tree.pl
 *   replaces nsenter.
 * - When no view is usable: unshare → mount-remap.sh (mounts, environment) → setpriv (uid, death signal) → bwrap → …
 */
export function planExecChain(deps: ExecChainDeps, request: TreeRequest): ExecChain {
  const { workspace } = request;
  if (deps.root && (workspace.uid === 0 || workspace.gid === 0)) throw rootOwned(workspace.path);
  const mounts = shownFiles(deps.mounts, request);
  const folders = workspace.sourceFolders ?? [];
  const shown = [
    ...[workspace.path, ...Object.values(workspace.repository ?? {})],
    ...(workspace.outputs === undefined ? [] : [workspace.outputs]),
    ...[...mounts, ...folders].map(({ host }) => host),
  ];
  const needed = [deps.tools.bwrap, ...shown];
  const remap = deps.root ? planMountRemap(needed, workspace) : null;
  const hostPath = (path: string) => remap?.hostPath(path) ?? path;
  const args = [...bwrapArguments, ...enterArguments(deps, request)];
  return {
    ...(remap ? throughMounts(deps, { remap, needed, workspace, args }) : direct(deps, { workspace, args })),
    setUp: [deps.tools.bwrap, args, workspace.uid, workspace.gid, remap?.mountPoint, remap?.sources],
    options: [
      ...profile({ ...deps, seccompFd: deps.hasFilter ? inheritedFds.filter : null, hostPath }, request),
      ...['--json-status-fd', String(inheritedFds.status)],
    ],
    mounted: [
      ...[...shown, ...mountPoints(request), join(workspace.path, request.cwd), ...sourceFolderPaths(workspace)],
      ...(request.only === undefined ? [] : wallFiles(request.only)),
    ],
    command: encodeCommand(
      environment(deps.mounts, request, {
        ...request.egress?.environment(proxyPort),
        ...certificateVariables(request),
        ...request.env,
      }),
      request.argv,
    ),
  };
}

/** Paths of mounts over the workspace's own files. Replacing such a file from outside removes its mount. */
function mountPoints({ workspace, hostFiles }: TreeRequest): string[] {
  const inTree = repositoryMounts(workspace, { isCommand: hostFiles === null }).filter(({ inside }) =>
    inside.startsWith('/workspace/'),
  );
  return inTree.flatMap(({ host, inside }) => [host, workspace.path + inside.slice('/workspace'.length)]);
}

type FirstProgram = Pick<ExecChain, 'program' | 'args' | 'view' | 'start'>;

/**
 * Drops the uid before bubblewrap starts: with the host's uid 0 bubblewrap would act as root on every visible file. bubblewrap's
 * environment is empty, because programs inside can read the environment of the first process. bubblewrap asks for the death signal. When
 * the worker has died before, enter.sh gets no answer and exits.
 */
function direct(deps: ExecChainDeps, input: { workspace: WorkspaceMount; args: string[] }): FirstProgram {
  const { uid, gid } = input.workspace;
  return {
    program: deps.tools.bwrap,
    args: input.args,
    view: null,
    start: { env: {}, argv0: 'bwrap', ...(deps.root ? { uid, gid } : {}) },
  };
}

interface Remapped {
  remap: MountRemap;
  workspace: WorkspaceMount;
  args: string[];
}

function throughMounts(deps: ExecChainDeps, input: Remapped & { needed: readonly string[] }): FirstProgram {
  const { remap, args } = input;
  const view = planMountView({ ...deps.tools, viewScript: deps.viewScript }, input);
  const id = view && deps.starter.view(view.key, view);
  if (view === null || id === null) return throughRemap(deps, input);
  const { program, lead, args: options } = view.enter;
  return {
    program,
    args: [...options, remap.hostPath(deps.tools.bwrap), ...args],
    view: { id, lead },
    start: { env: {} },
  };
}

function throughRemap({ tools, remapScript }: ExecChainDeps, { remap, workspace, args }: Remapped): FirstProgram {
  if (!tools.unshare || !tools.setpriv) {
    throw new SandboxError('ESANDBOXMISSING', `The workspace's uid cannot reach ${remap.sources.join(', ')}.`, {
      retryable: false,
      next: 'Install `unshare` and `setpriv` (package `util-linux`), or move the data directory and the project to directories that other users may pass.',
    });
  }
  return {
    program: tools.unshare,
    args: [
      ...['--mount', '--propagation', 'private', '--', tools.bash, ...quietBash, '-c', remapScript, 'holdpoint'],
      ...['-c', remap.mountPoint, ...remap.sources, '--'],
      ...[tools.setpriv, `--reuid=${workspace.uid}`, `--regid=${workspace.gid}`, '--clear-groups'],
      ...['--pdeathsig', 'KILL', '--', remap.hostPath(tools.bwrap), ...args],
    ],
    view: null,
    // For unshare and mount-remap.sh only.
    start: { env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } },
  };
}

function enterArguments(deps: ExecChainDeps, { limits, egress, stdin }: TreeRequest): string[] {
  const kib = (bytes: number) => Math.ceil(bytes / 1024);
  // Where the control group limits the whole command, the limit per process is a second line of defence. A command must reach the group's
  // limit first, because refusals of the limit per process look like any other failure. RLIMIT_DATA also counts memory reserved but never
  // touched.
  const processes = deps.cgroupLimits?.processes ? limits.processes + 64 : limits.processes;
  const memory = deps.cgroupLimits?.memory ? 'unlimited' : kib(limits.memory_bytes);
  return [
    ...[inheritedFds.control, deps.cgroupFds ?? 0, egress ? proxyPort : 0, stdin === null ? '' : stdinFile],
    ...[processes, kib(limits.file_bytes), limits.open_files, memory, limits.cpu_seconds],
  ].map(String);
}

function environment(
  mounts: Mounts,
  { workspace: { first }, only }: TreeRequest,
  env: Readonly<Record<string, string>>,
): string[] {
  if (only !== undefined) return variables({ PATH: '/usr/bin', ...behindWall, ...env });
  const chosen = first === undefined ? [] : [...(first.links.length > 0 ? [firstBin] : []), ...first.bins];
  const path = [...chosen, ...mounts.path, '/usr/local/bin', '/usr/bin', '/bin', ...mounts.last].join(':');
  return variables({ PATH: path, ...env });
}

/** git must not try to take optional locks: the tree is read-only. */
const behindWall = { GIT_OPTIONAL_LOCKS: '0' };

function variables(env: Readonly<Record<string, string>>): string[] {
  const base = {
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    ...gitEnvironment(`${holdpointDirectory}/inside/etc/gitconfig`),
  };
  return Object.entries({ ...base, ...env }).map(([name, value]) => `${name}=${value}`);
}

/** Variables naming the file of trusted certificates, as most programs and libraries read them. */
function certificateVariables({ egress }: TreeRequest): Record<string, string> {
  if (egress?.certificates === undefined) return {};
  const names = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAINFO', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE'];
  return Object.fromEntries(names.map((name) => [name, certificateFile]));
}

/** The format of enter.sh: a length in eight digits, and one command of bash. */
function encodeCommand(variables: readonly string[], argv: readonly string[]): Buffer {
  const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  const words = ['export', ...variables.map(quote), ';', 'exec', '--', ...argv.map(quote)];
  const answer = Buffer.from(words.join(' '));
  return Buffer.concat([Buffer.from(String(answer.length).padStart(8, '0')), answer]);
}

function rootOwned(path: string): SandboxError {
  return new SandboxError('ESANDBOXSETUP', `The workspace ${path} belongs to root. No sandbox runs as root.`, {
    retryable: false,
    next: 'Give the tree a uid and gid that no other workspace has.',
  });
}
