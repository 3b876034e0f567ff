import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { weightOfAll } from './control-files.ts';
import type { Controller, Hierarchy } from './locate.ts';

/** The parents of the groups in one hierarchy. */
export interface CgroupDir {
  version: 1 | 2;
  controllers: Controller[];
  /** The parent of the groups of commands. */
  directory: string;
  /** The parent of the groups of tool hosts and parsers. Without the cpu controller: the parent of commands. */
  own: string;
}

/** All workers of a host share these directories. */
const directoryName = 'holdpoint';
const ownDirectoryName = 'holdpoint-own';
const wanted = ['memory', 'pids', 'cpu'] as const;

/**
 * Creates the parent group in each hierarchy, if the hierarchy allows new groups. The parent never lies above a limited group of the
 * worker: the operator's limit for the worker also applies to its commands.
 */
export function makeCgroupDirs(hierarchies: readonly Hierarchy[]): CgroupDir[] {
  return hierarchies.flatMap((hierarchy) => {
    const candidates = upToLimit(hierarchy);
    // Version 1: the highest group, so all workers of the host share the parent. Version 2: the nearest delegated group.
    const parents = hierarchy.version === 1 ? candidates.toReversed() : candidates;
    for (const parent of parents) {
      const made = hierarchy.version === 1 ? makeInV1(parent, hierarchy.controllers) : makeInV2(parent);
      if (made) return [made];
    }
    return [];
  });
}

function upToLimit({ own, top }: Hierarchy): string[] {
  const candidates: string[] = [];
  for (let directory = own; ; directory = dirname(directory)) {
    candidates.push(directory);
    if (directory === top || !directory.startsWith(top) || isLimited(directory)) return candidates;
  }
}

function isLimited(directory: string): boolean {
  const value = (file: string) => read(join(directory, file));
  const memory = value('memory.limit_in_bytes');
  return (
    (memory !== null && Number(memory) < 2 ** 62) ||
    ![null, '-1'].includes(value('cpu.cfs_quota_us')) ||
    ['memory.max', 'pids.max'].some((file) => ![null, 'max'].includes(value(file))) ||
    value('cpu.max')?.startsWith('max') === false
  );
}

function makeInV1(parent: string, controllers: Controller[]): CgroupDir | null {
  const directory = make(parent, directoryName);
  if (directory === null) return null;
  if (!controllers.includes('cpu')) return { version: 1, controllers, directory, own: directory };
  setWeight(1, directory);
  return { version: 1, controllers, directory, own: make(parent, ownDirectoryName) ?? directory };
}

/** Version 2 passes controllers only to the children of a group without processes. The host's root group is an exception. */
function makeInV2(parent: string): CgroupDir | null {
  const offered = words(read(join(parent, 'cgroup.controllers')));
  const controllers = wanted.filter((name) => offered.includes(name));
  if (controllers.length === 0) return null;
  const enable = (directory: string) => {
    const file = join(directory, 'cgroup.subtree_control');
    const missing = controllers.filter((name) => !words(read(file)).includes(name));
    if (missing.length > 0) writeFileSync(file, missing.map((name) => `+${name}`).join(' '));
  };
  try {
    accessSync(parent, constants.W_OK);
    enable(parent);
    const directory = make(parent, directoryName);
    if (directory === null) return null;
    enable(directory);
    const all: Controller[] = [...controllers, 'cpuacct'];
    if (!controllers.includes('cpu')) return { version: 2, controllers: all, directory, own: directory };
    setWeight(2, directory);
    const own = make(parent, ownDirectoryName) ?? directory;
    enable(own);
    return { version: 2, controllers: all, directory, own };
  } catch {
    return null; // EBUSY: the group has processes. EACCES or EROFS: the group belongs to another user.
  }
}

function setWeight(version: 1 | 2, directory: string): void {
  const { file, value } = weightOfAll[version];
  try {
    writeFileSync(join(directory, file), value, { flag: 'r+' });
  } catch {
    // The group belongs to another user, and the other user's worker has set the weight. Or the kernel has no file for the weight.
  }
}

function make(parent: string, name: string): string | null {
  const directory = join(parent, name);
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return directory;
  } catch {
    return null;
  }
}

function words(text: string | null): string[] {
  return (text ?? '').split(' ');
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return null;
  }
}
