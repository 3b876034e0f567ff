import { realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { SandboxError } from '../errors.ts';

interface Owner {
  uid: number;
  gid: number;
}

/** Directories, bound one by one below a private mount point, and where each host path is then. */
export interface View {
  mountPoint: string;
  directories: string[];
  hostPath(path: string): string;
}

/** Whether a uid with no other group may pass every parent of a path and read it. Does not know ACLs, which can only make it too cautious. */
export function canReach(path: string, owner: Owner): boolean {
  if (!permits(path, owner, 4)) return false;
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    if (!permits(directory, owner, 1)) return false;
    if (directory === '/') return true;
  }
}

/** The view that makes `paths` reachable, or null when they all are. Files are shown with their directory. */
export function planView(paths: readonly string[], owner: Owner): View | null {
  const hidden = paths.map((path) => realpathSync(path)).filter((path) => !canReach(path, owner));
  if (hidden.length === 0) return null;
  const containers = new Set(hidden.map((path) => (statSync(path).isDirectory() ? path : dirname(path))));
  // a directory inside another one comes with it
  const directories = [...containers].filter((path) => ![...containers].some((other) => isInside(path, other)));
  const mountPoint = chooseMountPoint(paths);
  return {
    mountPoint,
    directories,
    hostPath(path) {
      const real = realpathSync(path);
      const index = directories.findIndex((directory) => real === directory || isInside(real, directory));
      return index === -1 ? real : join(mountPoint, String(index), relative(directories[index] ?? '', real));
    },
  };
}

/** Any directory will do whose content no sandbox needs: only the sandbox's own set-up sees the mount. */
function chooseMountPoint(paths: readonly string[]): string {
  const free = ['/mnt', '/media', '/srv', '/opt', '/run', '/home', '/var'].find(
    (candidate) =>
      statSync(candidate, { throwIfNoEntry: false })?.isDirectory() &&
      !paths.some((path) => isInside(realpathSync(path), candidate)),
  );
  if (free) return free;
  throw new SandboxError('ESANDBOXSETUP', 'No directory of this host is free to show hidden paths in.', {
    retryable: false,
    next: 'Create an empty directory /mnt, or make the data directory reachable for other users.',
  });
}

function isInside(path: string, directory: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** @param bit 4 to read, 1 to pass */
function permits(path: string, owner: Owner, bit: number): boolean {
  const { uid, gid, mode } = statSync(path);
  const shift = uid === owner.uid ? 6 : gid === owner.gid ? 3 : 0;
  return ((mode >> shift) & bit) === bit;
}
