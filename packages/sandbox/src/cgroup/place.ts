import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { weightOfAll } from './files.ts';
import type { Controller, Hierarchy } from './locate.ts';

/** A group of ours that holds those of commands. */
export interface Place {
  version: 1 | 2;
  controllers: Controller[];
  directory: string;
}

/** Shared by all workers of a host. */
const NAME = 'holdpoint';
const wanted = ['memory', 'pids', 'cpu'] as const;

/**
 * Makes our group in each hierarchy that lets us. It never lies above a group of the worker's own that carries a limit: what an
 * operator gave the worker as a whole stays the bound of its commands, too.
 */
export function makePlaces(hierarchies: readonly Hierarchy[]): Place[] {
  return hierarchies.flatMap((hierarchy) => {
    const candidates = upToLimit(hierarchy);
    // version 1: the highest, so that all workers of the host find it; version 2: the nearest that was delegated to us
    const place = hierarchy.version === 1 ? candidates.toReversed() : candidates;
    for (const parent of place) {
      const made = hierarchy.version === 1 ? makeFirst(parent, hierarchy.controllers) : makeSecond(parent);
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

function makeFirst(parent: string, controllers: Controller[]): Place | null {
  const directory = make(parent);
  if (directory !== null && controllers.includes('cpu')) weigh(1, directory);
  return directory === null ? null : { version: 1, controllers, directory };
}

/** Version 2 gives controllers to the groups below one that has no processes of its own (only the host's root may have). */
function makeSecond(parent: string): Place | null {
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
    const directory = make(parent);
    if (directory === null) return null;
    enable(directory);
    if (controllers.includes('cpu')) weigh(2, directory);
    return { version: 2, controllers: [...controllers, 'cpuacct'], directory };
  } catch {
    return null; // EBUSY: it has processes; EACCES or EROFS: it is not ours
  }
}

function weigh(version: 1 | 2, directory: string): void {
  const { file, value } = weightOfAll[version];
  try {
    writeFileSync(join(directory, file), value, { flag: 'r+' });
  } catch {
    // it belongs to another user, whose worker set it; or the kernel has no such weight
  }
}

function make(parent: string): string | null {
  const directory = join(parent, NAME);
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
