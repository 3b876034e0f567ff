import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { SourceFolder } from '@holdpoint/contract';
import { SandboxError, type WorkspaceMount } from '../tree.ts';

/*
 * Folders of the source, mounted read-only over empty folders of the tree. bubblewrap takes paths. During the set-up the source's owner can
 * replace the folder, and a background command can replace a folder above the mount point. So the worker checks the finished sandbox before
 * the command runs: each mount point must show the judged folder, and no part of its path may be a link.
 */

/**
 * bubblewrap's options. bubblewrap mounts each folder with all mounts below, without devices and setuid programs. Throws `SandboxError`
 * ESANDBOXSETUP when the tree has no folder to mount over: bubblewrap would make a folder, even behind a link.
 */
export function sourceFolderOptions(
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
