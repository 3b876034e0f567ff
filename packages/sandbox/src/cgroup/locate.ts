import { posix } from 'node:path';

export type Controller = 'memory' | 'pids' | 'cpu' | 'cpuacct';
const known: readonly Controller[] = ['memory', 'pids', 'cpu', 'cpuacct'];

/** One mounted hierarchy of control groups, as this process sees it. */
export interface Hierarchy {
  version: 1 | 2;
  /** Which of the four controllers it has. Version 2 lists them per group, so here it has all of them. */
  controllers: Controller[];
  /** Directory of the highest group that is visible here. */
  top: string;
  /** Directory of the group of this process: `top` or below. */
  own: string;
}

/**
 * Finds the mounted hierarchies. A controller belongs to exactly one of them.
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
    // A container may see the host's path of its group beside a mount of only its part.
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
