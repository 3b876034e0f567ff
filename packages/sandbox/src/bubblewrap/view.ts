import { realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { SandboxError } from '../errors.ts';

interface Owner {
  uid: number;
  gid: number;
}

/** Files and directories, bound one by one below a private mount point, and where each host path is then. */
export interface View {
  mountPoint: string;
  /** Absolute host paths, none inside another. */
  sources: string[];
  hostPath(path: string): string;
}

/**
 * The view that makes `paths` reachable, or null when they all are. Of each hidden path the highest directory is shown from which the
 * rest can be passed, so that one mount shows a whole project below a closed home.
 *
 * Throws `SandboxError` ESANDBOXSETUP when a path could not be read even then. Does not know ACLs, which can only make it too cautious.
 */
export function planView(paths: readonly string[], owner: Owner): View | null {
  const hidden = paths.map((path) => realpathSync(path)).filter((path) => !canReach(path, owner));
  if (hidden.length === 0) return null;
  const tops = new Set(hidden.map((path) => highestPassable(path, owner)));
  const sources = [...tops].filter((path) => ![...tops].some((other) => isInside(path, other)));
  const mountPoint = chooseMountPoint(paths);
  return {
    mountPoint,
    sources,
    hostPath(path) {
      const real = realpathSync(path);
      const index = sources.findIndex((source) => real === source || isInside(real, source));
      return index === -1 ? real : join(mountPoint, String(index), relative(sources[index] ?? '', real));
    },
  };
}

/** Whether a uid with no other group may pass every parent of a path and read it. */
function canReach(path: string, owner: Owner): boolean {
  if (!permits(path, owner, 4)) {
    throw new SandboxError('ESANDBOXSETUP', `${path} cannot be read by uid ${owner.uid}, which the sandbox runs as.`, {
      retryable: false,
      next: 'A workspace must belong to its uid. Programs must be readable for others: chmod -R o+rX on the project directory.',
    });
  }
  return highestPassable(path, owner) === '/';
}

function highestPassable(path: string, owner: Owner): string {
  let top = path;
  while (top !== '/' && permits(dirname(top), owner, 1)) top = dirname(top);
  return top;
}

/** Any directory will do whose content no sandbox needs: only the sandbox's own set-up sees the mount. */
function chooseMountPoint(paths: readonly string[]): string {
  const real = paths.map((path) => realpathSync(path));
  const free = ['/mnt', '/media', '/srv', '/opt', '/run', '/home', '/var'].find(
    (candidate) =>
      statSync(candidate, { throwIfNoEntry: false })?.isDirectory() && !real.some((path) => isInside(path, candidate)),
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
