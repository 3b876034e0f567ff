import { expect, test } from 'vitest';
import { locateHierarchies } from './locate.ts';

const mount = (root: string, point: string, type: string, options: string) =>
  `34 31 0:31 ${root} ${point} rw,nosuid shared:9 - ${type} ${type} rw,${options}`;

test('version 1: each controller has its hierarchy and the group of this process', () => {
  const mounts = [
    mount('/', '/sys/fs/cgroup/memory', 'cgroup', 'memory'),
    mount('/', '/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'cpu,cpuacct'),
    mount('/', '/sys/fs/cgroup/systemd', 'cgroup', 'name=systemd'),
    '22 27 0:21 / /proc rw,relatime - proc proc rw',
  ];
  const groups = ['4:memory:/unit/a b', '3:cpu,cpuacct:/', '9:name=systemd:/', '0::/', ''];
  expect(locateHierarchies(mounts.join('\n'), groups.join('\n'))).toEqual([
    { version: 1, controllers: ['memory'], top: '/sys/fs/cgroup/memory', own: '/sys/fs/cgroup/memory/unit/a b' },
    {
      version: 1,
      controllers: ['cpu', 'cpuacct'],
      top: '/sys/fs/cgroup/cpu,cpuacct',
      own: '/sys/fs/cgroup/cpu,cpuacct',
    },
  ]);
});

test('version 2, also in a container that sees only its part', () => {
  const [plain] = locateHierarchies(mount('/', '/sys/fs/cgroup', 'cgroup2', 'nsdelegate'), '0::/user.slice/u.scope\n');
  expect(plain).toMatchObject({ version: 2, top: '/sys/fs/cgroup', own: '/sys/fs/cgroup/user.slice/u.scope' });
  const [part] = locateHierarchies(mount('/docker/1', '/sys/fs/cgroup', 'cgroup2', ''), '0::/docker/1/work\n');
  expect(part?.own).toBe('/sys/fs/cgroup/work');
  const [elsewhere] = locateHierarchies(mount('/docker/1', '/sys/fs/cgroup', 'cgroup2', ''), '0::/../other\n');
  expect(elsewhere?.own).toBe('/sys/fs/cgroup');
});
