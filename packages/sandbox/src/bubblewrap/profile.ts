import { lstatSync, readlinkSync } from 'node:fs';
import { repositoryMounts } from '../repository.ts';
import type { TreeRequest } from '../tree.ts';
import { descriptors } from './descriptors.ts';
import { type Equipment, type ReadOnlyMount, STDIN_FILE } from './equipment.ts';

/** Shown read-only where the host has it: certificates, Debian's alternatives, the library cache. Nothing else of /etc. */
const etc = ['/etc/ssl', '/etc/pki/tls/certs', '/etc/pki/ca-trust', '/etc/alternatives', '/etc/ld.so.cache'];

/** Either links into /usr, or directories of their own on a host that does not merge them. */
const topDirectories = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

const SHARED_MEMORY_BYTES = 16 * 1024 * 1024;

/**
 * bubblewrap's options for one sandbox. Order matters: a mount point must be made while its parent is writable.
 *
 * @param deps.hostPath where bubblewrap finds a host path (a view moves some)
 */
export function profile(
  deps: { equipment: Equipment; tmpBytes: number; seccompDescriptor: number | null; hostPath(path: string): string },
  request: Pick<TreeRequest, 'workspace' | 'cwd' | 'stdin' | 'toolHost'>,
): string[] {
  const mounts: ReadOnlyMount[] = [...deps.equipment.command, ...(request.toolHost ? deps.equipment.toolHost : [])];
  return [
    // Root without --unshare-user would keep every capability, and --unshare-all alone only tries.
    ['--unshare-user', '--unshare-all', '--disable-userns', '--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
    // With a first process of its own bubblewrap would show the host's program, which may be ours, as /proc/1/exe. enter.sh reaps instead.
    ['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--as-pid-1'],
    deps.seccompDescriptor === null ? [] : ['--seccomp', String(deps.seccompDescriptor)],
    ['--ro-bind', '/usr', '/usr'],
    topDirectories.flatMap(showTopDirectory),
    etc.flatMap((path) => ['--ro-bind-try', path, path]),
    // A writable /proc/sys is dangerous when the host's uid is 0 after all.
    ['--proc', '/proc', '--remount-ro', '/proc'],
    // /dev is a tmpfs without a size of its own.
    ['--dev', '/dev', '--size', String(SHARED_MEMORY_BYTES), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--size', String(deps.tmpBytes), '--perms', '1777', '--tmpfs', '/tmp'],
    // after /tmp, which would hide a toolchain that lies there
    mounts.flatMap(({ host, inside }) => ['--ro-bind', deps.hostPath(host), inside]),
    // A copy in memory. A command could make a file of the worker writable, open it again and fill the host's disk unseen.
    request.stdin === null ? [] : ['--ro-bind-data', String(descriptors.input), STDIN_FILE],
    deps.equipment.links.flatMap(([target, path]) => ['--symlink', target, path]),
    ['--bind', deps.hostPath(request.workspace.path), '/workspace'],
    repositoryMounts(request.workspace, request).flatMap(({ host, inside, access }) => [
      ...[access === 'read' ? '--ro-bind' : '--bind', deps.hostPath(host), inside],
    ]),
    ['--remount-ro', '/'],
    ['--chdir', request.cwd === '.' ? '/workspace' : `/workspace/${request.cwd}`],
  ].flat();
}

function showTopDirectory(path: string): string[] {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry?.isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
  return entry?.isDirectory() ? ['--ro-bind', path, path] : [];
}
