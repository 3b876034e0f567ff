import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { SourceFolder } from '@holdpoint/contract';
import { SandboxError, type WorkspaceMount } from '../tree.ts';

/*
 * Folders of the source, mounted read-only over empty folders of the tree. bubblewrap takes paths, and while it works the source's owner
 * can exchange the folder, and a background command a folder above the mount point. So the worker looks at the finished sandbox, before
 * anything runs in it: only the folder that was judged may be there, at its own place and behind no link.
 */

/**
 * bubblewrap's options. It mounts with everything below, each without devices and setuid programs.
 * Throws `SandboxError` ESANDBOXSETUP where the tree has no folder to mount over: bubblewrap would make one, also behind a link.
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

/** Host paths that are mounted, and the places in the tree that they are mounted over. */
export const sourceFolderPaths = ({ path: tree, sourceFolders = [] }: WorkspaceMount): string[] =>
  sourceFolders.flatMap(({ path, host }) => [host, `${tree}/${path}`]);

/** Why a sandbox does not have the folders as they were judged; null when it has. @param pid of a process in it */
export function misplacedFolder(pid: number, folders: readonly SourceFolder[]): string | null {
  for (const { path, identity } of folders) {
    if (identityBelow(`/proc/${pid}/root/workspace`, path.split('/')) === identity) continue;
    return `${path} of the source, or a folder above its place in the workspace, was exchanged during the set-up`;
  }
  return null;
}

/** Linux; Node has no constant for it. */
const O_PATH = 0o10000000;
const asFolder = O_PATH | constants.O_DIRECTORY;

/** Null where a part of the path is no folder, such as a link. */
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
