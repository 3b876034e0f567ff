import { realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { SandboxError } from '../errors.ts';

interface Owner {
  uid: number;
  gid: number;
}

/**
 * Binds a single directory on a private mount point, or several files and directories below the mount point, each under its index
 * (`mount-remap.sh`).
 */
export interface MountRemap {
  mountPoint: string;
  /** Absolute host paths, the longest first. A source may lie inside another source. */
  sources: string[];
  /** The path without links. */
  realPath(path: string): string;
  /** Path of a host file after the mounts. */
  hostPath(path: string): string;
}

/**
 * Plans mounts to make `paths` reachable for the owner. Null when the owner can reach all paths already. For each hidden path the plan
 * binds the highest directory from which the owner can pass to the path, so a single mount makes a whole project below a closed home
 * reachable. A closed directory inside the project needs another mount for the paths below.
 *
 * Throws `SandboxError` ESANDBOXSETUP when the owner could not read a path even with the mounts. Ignores ACLs, so the plan may refuse too
 * much, never too little.
 */
export function planMountRemap(paths: readonly string[], owner: Owner): MountRemap | null {
  const permits = rights(owner);
  const realPath = realPaths();
  const hidden = paths.map(realPath).filter((path) => !canReach(path, { owner, permits }));
  if (hidden.length === 0) return null;
  const tops = new Set(hidden.map((path) => highestPassable(path, permits)));
  // When several sources contain a path, the owner can pass from the longest source to the path.
  const sources = [...tops].sort((left, right) => right.length - left.length);
  const mountPoint = chooseMountPoint(paths.map(realPath));
  const places =
    sources.length === 1 && sources.every((source) => statSync(source).isDirectory())
      ? [mountPoint]
      : sources.map((_, index) => join(mountPoint, String(index)));
  return {
    mountPoint,
    sources,
    realPath,
    hostPath(path) {
      const real = realPath(path);
      const index = sources.findIndex((source) => real === source || isInside(real, source));
      return index === -1 ? real : join(places[index] ?? '', relative(sources[index] ?? '', real));
    },
  };
}

/** Whether the owner, without supplementary groups, may pass every parent of a path and read the path. */
function canReach(path: string, { owner, permits }: { owner: Owner; permits: Permits }): boolean {
  if (!permits(path, 4)) {
    throw new SandboxError('ESANDBOXSETUP', `uid ${owner.uid}, which the sandbox runs as, cannot read ${path}.`, {
      retryable: false,
      next: 'Give the workspace to its uid. Make programs readable for other users: chmod -R o+rX on the project directory.',
    });
  }
  return highestPassable(path, permits) === '/';
}

function highestPassable(path: string, permits: Permits): string {
  let top = path;
  while (top !== '/' && permits(dirname(top), 1)) top = dirname(top);
  return top;
}

/** Any directory with content unneeded by the sandbox. Only the set-up of the sandbox sees the mount. */
function chooseMountPoint(real: readonly string[]): string {
  const found = ['/mnt', '/media', '/srv', '/opt', '/run', '/home', '/var'].find(
    (candidate) =>
      statSync(candidate, { throwIfNoEntry: false })?.isDirectory() && !real.some((path) => isInside(path, candidate)),
  );
  if (found) return found;
  throw new SandboxError('ESANDBOXSETUP', 'No directory of this host is free as a mount point for hidden paths.', {
    retryable: false,
    next: 'Create an empty directory /mnt, or make the data directory reachable for other users.',
  });
}

function isInside(path: string, directory: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** A cache for a single plan. A plan uses each path up to three times, and every parent of a path costs a system call. */
function realPaths(): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const real = known.get(path) ?? realpathSync.native(path);
    known.set(path, real);
    return real;
  };
}

/** @param bit 4 to read, 1 to pass */
type Permits = (path: string, bit: 4 | 1) => boolean;

/** A cache for a single plan. Most paths share their parents. */
function rights({ uid, gid }: Owner): Permits {
  const known = new Map<string, number>();
  const bitsOf = (path: string): number => {
    const stats = statSync(path);
    const bits = stats.mode >> (uid === stats.uid ? 6 : gid === stats.gid ? 3 : 0);
    known.set(path, bits);
    return bits;
  };
  return (path, bit) => ((known.get(path) ?? bitsOf(path)) & bit) === bit;
}
