import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { outputsFolder, type SourceFolder } from '@holdpoint/contract';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import { repositoryMounts } from '../repository.ts';
import { type ReadOnlyMount, SandboxError, type TreeRequest, type WorkspaceMount } from '../tree.ts';
import { certificateFile, firstBin, holdpointDirectory, insideFiles, type Mounts, stdinFile } from './mounts.ts';
import { wallOptions } from './wall.ts';

/*
 * Folders of the source, mounted read-only over empty folders of the tree. bubblewrap takes paths. During the set-up the source's owner can
 * replace the folder, and a background command can replace a folder above the mount point. So the worker checks the finished sandbox before
 * the command runs: each mount point must show the judged folder, and no part of its path may be a link.
 */

/**
 * bubblewrap's options. bubblewrap mounts each folder with all mounts below, without devices and setuid programs. Throws `SandboxError`
 * ESANDBOXSETUP when the tree has no folder to mount over: bubblewrap would make a folder, even behind a link.
 */
function sourceFolderOptions(
  { id, path: tree, sourceFolders = [] }: WorkspaceMount,
  hostPath: (path: string) => string,
): string[] {
  return sourceFolders.flatMap(({ path, host }) => {
    if (identityBelow(tree, path.split('/')) !== null) return ['--ro-bind', hostPath(host), `/workspace/${path}`];
    throw new SandboxError('ESANDBOXSETUP', `The workspace of ${id} has no place for ${path} of its source any more.`, {
      retryable: true,
      next: 'Repeat the call: a command has just moved that place.',
    });
  });
}

/** Host paths of the folders, and of their mount points in the tree. */
export const sourceFolderPaths = ({ path: tree, sourceFolders = [] }: WorkspaceMount): string[] =>
  sourceFolders.flatMap(({ path, host }) => [host, `${tree}/${path}`]);

/**
 * Reason when a mount point in a sandbox does not show the judged folder; null when all mount points do. @param pid of a process in the
 * sandbox
 */
export function misplacedFolder(pid: number, folders: readonly SourceFolder[]): string | null {
  for (const { path, identity } of folders) {
    if (identityBelow(`/proc/${pid}/root/workspace`, path.split('/')) === identity) continue;
    return `${path} of the source, or a folder above its place in the workspace, was exchanged during the set-up`;
  }
  return null;
}

/** O_PATH of Linux. Node has no constant for O_PATH. */
const O_PATH = 0o10000000;
const asFolder = O_PATH | constants.O_DIRECTORY;

/** Identity of a folder below `top`. Null when a part of the path is no folder, e.g. a link. */
function identityBelow(top: string, names: readonly string[]): string | null {
  const opened: number[] = [];
  const open = (path: string, flags: number) => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  try {
    let at = open(top, asFolder);
    for (const name of names) at = open(`/proc/self/fd/${at}/${name}`, asFolder | constants.O_NOFOLLOW);
    const { dev, ino, birthtimeNs } = fstatSync(at, { bigint: true });
    return [dev, ino, birthtimeNs].join();
  } catch {
    return null;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

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
function isBwrapCommandLine(text: string): boolean {
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

/**
 * Finds the first processes of sandboxes without their bubblewrap. When bubblewrap is killed just after making the namespaces, the first
 * process has run no program and waits for bubblewrap for ever. An orphan is garbage, no matter which worker started the sandbox.
 *
 * @param uid owner of the processes. Root finds the orphans of all users: other users may end only their own processes
 */
export function findOrphans(uid = process.getuid?.() ?? 0): ProcessIdentity[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isBubblewrap(name) && isOrphan(name, uid))
    .map((name) => identify(Number(name)));
  return found.filter((identity) => identity !== null);
}

function isOrphan(pid: string, uid: number): boolean {
  const status = read(`/proc/${pid}/status`);
  if (uid !== 0 && /^Uid:\t(\d+)/m.exec(status)?.[1] !== String(uid)) return false;
  const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1];
  // The last number is the pid in the innermost namespace. A process of the worker's own namespace has a single number.
  const isFirst = /^NSpid:(?:\t\d+)+\t1$/m.test(status);
  // bubblewrap has no capabilities, the first process has some. When the worker died before sending the options, the sandbox has no pid
  // namespace.
  const hasCapabilities = /^CapEff:\t0*[1-9a-f]/m.test(status);
  return (isFirst || hasCapabilities) && parent !== undefined && !isBubblewrap(parent);
}

function isBubblewrap(pid: string): boolean {
  return isBwrapCommandLine(read(`/proc/${pid}/cmdline`));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // the process has ended
  }
}
