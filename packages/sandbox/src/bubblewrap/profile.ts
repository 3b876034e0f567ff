import { lstatSync, readlinkSync } from 'node:fs';
import { outputsFolder } from '@holdpoint/contract';
import { repositoryMounts } from '../repository.ts';
import type { ReadOnlyMount, TreeRequest } from '../tree.ts';
import { certificateFile, firstBin, holdpointDirectory, insideFiles, type Mounts, stdinFile } from './mounts.ts';
import { sourceFolderOptions } from './source-folders.ts';
import { wallOptions } from './wall.ts';

/** Numbers of the file descriptors inherited by bubblewrap, in addition to stdio. */
export const inheritedFds = {
  /** bubblewrap reads its options here, NUL-terminated. Other users of the host can read arguments, but not this pipe. */
  options: 3,
  /** bubblewrap reads the system call filter here. */
  filter: 4,
  /** bubblewrap writes its status lines here for the worker: JSON, the exit code among them. */
  status: 5,
  /** bubblewrap reads the command's standard input here. */
  input: 6,
  /** bubblewrap reads the command's trusted certificates here. */
  certificates: 7,
  /** enter.sh reads the command and its environment here. The worker writes both when the sandbox is ready. */
  control: 8,
  /**
   * The same pipe as `status`, for enter.sh to report `ready`. The fds above are control group files. enter.sh writes to these files and
   * closes them.
   */
  words: 9,
} as const;

/**
 * Options to keep bash from reading the host's settings: functions and variables (`-p`), and ~/.bashrc. bash reads ~/.bashrc when its
 * standard input is a socket, and Node's pipes are sockets.
 */
export const quietBash = ['--norc', '-p'];

/** Arguments of bubblewrap, the same in every sandbox. */
export const bwrapArguments = [
  '--args',
  String(inheritedFds.options),
  '--',
  '/bin/bash',
  ...quietBash,
  `${holdpointDirectory}/inside/enter.sh`,
];

const argumentsText = `${bwrapArguments.join('\0')}\0`;

/**
 * Whether a text of /proc/PID/cmdline belongs to a sandbox's bubblewrap. Compares the arguments only: behind a remap argument 0 is a path
 * instead of `bwrap`.
 */
export function isBwrapCommandLine(text: string): boolean {
  return text.startsWith(argumentsText, text.indexOf('\0') + 1);
}

/**
 * Files of /etc to mount read-only, if the host has them: certificates, Debian's alternatives, the library cache. No other file of /etc is
 * mounted.
 */
const etc = ['/etc/ssl', '/etc/pki/tls/certs', '/etc/pki/ca-trust', '/etc/alternatives', '/etc/ld.so.cache'];

/** Links into /usr, or directories on a host without a merged /usr. */
const topDirectories = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Paths of the system in every sandbox. */
export const shownOfHost: readonly string[] = ['/usr', ...topDirectories, ...etc];

const sharedMemoryBytes = 16 * 1024 * 1024;

/**
 * bubblewrap's options for one sandbox. The order matters: bubblewrap can only make a mount point while the parent is writable.
 *
 * @param deps.hostPath returns bubblewrap's path of a host file (a remap moves some files)
 */
export function profile(
  deps: { mounts: Mounts; tmpBytes: number; seccompFd: number | null; hostPath(path: string): string },
  request: Pick<TreeRequest, 'workspace' | 'cwd' | 'stdin' | 'tmpBytes' | 'egress' | 'hostFiles' | 'only'>,
): string[] {
  const { workspace } = request;
  const mounts = shownFiles(deps.mounts, request);
  const links = request.only === undefined ? deps.mounts.links : deps.mounts.links.filter(([, path]) => isOfEtc(path));
  const first = request.only === undefined ? (workspace.first?.links ?? []) : [];
  return [
    // Without --unshare-user root would keep every capability. --unshare-all alone only tries to unshare the user namespace.
    ['--unshare-user', '--unshare-all', '--disable-userns', '--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
    // bubblewrap's own first process would show the host's bubblewrap as /proc/1/exe, and the worker's user may own this file. enter.sh
    // reaps instead.
    ['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--as-pid-1'],
    deps.seccompFd === null ? [] : ['--seccomp', String(deps.seccompFd)],
    request.only === undefined
      ? ['--ro-bind', '/usr', '/usr', ...topDirectories.flatMap(showTopDirectory)]
      : wallOptions(request.only, deps.hostPath),
    (request.only === undefined ? etc : ['/etc/ld.so.cache']).flatMap((path) => ['--ro-bind-try', path, path]),
    // A writable /proc/sys is dangerous if the host's uid is 0 after all.
    ['--proc', '/proc', '--remount-ro', '/proc'],
    // /dev is a tmpfs without a size limit.
    ['--dev', '/dev', '--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--size', String(request.tmpBytes ?? deps.tmpBytes), '--perms', '1777', '--tmpfs', '/tmp'],
    // After /tmp, because /tmp would hide a toolchain below /tmp.
    mounts.flatMap(({ host, inside }) => ['--ro-bind', deps.hostPath(host), inside]),
    // A copy in memory. A command could make a file of the worker writable, open it again and fill the host's disk unnoticed.
    request.stdin === null ? [] : ['--ro-bind-data', String(inheritedFds.input), stdinFile],
    request.egress?.certificates === undefined
      ? []
      : ['--ro-bind-data', String(inheritedFds.certificates), certificateFile],
    links.flatMap(([target, path]) => ['--symlink', target, path]),
    first.flatMap(([name, target]) => ['--symlink', target, `${firstBin}/${name}`]),
    [workspace.readOnly ? '--ro-bind' : '--bind', deps.hostPath(workspace.path), '/workspace'],
    sourceFolderOptions(workspace, deps.hostPath),
    repositoryMounts(workspace, { isCommand: request.hostFiles === null }).flatMap(({ host, inside, access }) => [
      ...[access === 'read' ? '--ro-bind' : '--bind', deps.hostPath(host), inside],
    ]),
    workspace.outputs === undefined ? [] : ['--ro-bind', deps.hostPath(workspace.outputs), outputsFolder],
    ['--remount-ro', '/'],
    ['--chdir', request.cwd === '.' ? '/workspace' : `/workspace/${request.cwd}`],
  ].flat();
}

/** Files of Holdpoint and of the operator to show a program. Behind the wall only the files to start the command are shown. */
export const shownFiles = (
  { command }: Pick<Mounts, 'command'>,
  { hostFiles, only }: Pick<TreeRequest, 'hostFiles' | 'only'>,
): ReadOnlyMount[] => [
  ...(only === undefined ? command : command.filter(({ inside }) => inside === insideFiles)),
  ...(hostFiles ?? []),
];

const isOfEtc = (path: string): boolean => path.startsWith('/etc/');

function showTopDirectory(path: string): string[] {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry?.isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
  return entry?.isDirectory() ? ['--ro-bind', path, path] : [];
}
