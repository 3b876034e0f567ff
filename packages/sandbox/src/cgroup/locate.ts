import { posix } from 'node:path';

export type Controller = 'memory' | 'pids' | 'cpu' | 'cpuacct';
const known: readonly Controller[] = ['memory', 'pids', 'cpu', 'cpuacct'];

/** A mounted hierarchy of control groups, as visible to this process. */
export interface Hierarchy {
  version: 1 | 2;
  /** The hierarchy's controllers among the four known. Version 2 lists controllers per group, so this list has all four. */
  controllers: Controller[];
  /** Directory of the highest visible group. */
  top: string;
  /** Directory of the group of this process: `top` or below. */
  own: string;
}

/**
 * Finds the mounted hierarchies. Each controller belongs to exactly one hierarchy.
 *
 * @param mountinfo text of /proc/self/mountinfo
 * @param membership text of /proc/self/cgroup
 */
export function locateHierarchies(mountinfo: string, membership: string): Hierarchy[] {
  const groups = membership.split('\n').flatMap((line) => {
    const [, names, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    return names === undefined || path === undefined ? [] : [{ names: names === '' ? [] : names.split(','), path }];
  });
  return mountinfo.split('\n').flatMap((line): Hierarchy[] => {
    const mount = parseMount(line);
    if (!mount) return [];
    const controllers = mount.version === 2 ? [...known] : known.filter((name) => mount.options.includes(name));
    if (controllers.length === 0) return [];
    const group = groups.find(({ names }) =>
      mount.version === 2 ? names.length === 0 : controllers.some((name) => names.includes(name)),
    );
    if (!group) return [];
    const below = posix.relative(mount.root, group.path);
    // In a container, the group's path may start at the host's root, while the mount shows only the container's part.
    const own = below.startsWith('..') ? mount.point : posix.join(mount.point, below);
    return [{ version: mount.version, controllers, top: mount.point, own }];
  });
}

function parseMount(line: string): { version: 1 | 2; root: string; point: string; options: string[] } | null {
  const [left, right] = line.split(' - ');
  const [, , , root, point] = (left ?? '').split(' ');
  const [type, , options] = (right ?? '').split(' ');
  if (root === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return null;
  return { version: type === 'cgroup' ? 1 : 2, root, point, options: (options ?? '').split(',') };
}
