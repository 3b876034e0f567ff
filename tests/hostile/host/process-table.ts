import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { deviceOf } from '@holdpoint/workspace/testing';

/** Pids of this host. */
export const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Processes with this workspace mounted: commands, tool hosts and their children. No process inside can undo the mount. */
export function processesIn(workspacePath: string): number[] {
  const own = readlinkSync('/proc/self/ns/mnt');
  const device = existsSync(workspacePath) ? deviceOf(workspacePath) : undefined;
  return pids().filter((pid) => {
    if (tryRead(() => readlinkSync(`/proc/${pid}/ns/mnt`)) === own) return false;
    const mounts = tryRead(() => readFileSync(`/proc/${pid}/mountinfo`, 'utf8')) ?? '';
    return mounts.split('\n').some((line) => {
      const [, , mounted, source, target] = line.split(' ');
      if (target !== '/workspace' || source === undefined) return false;
      // An overlay has a device of its own.
      return source === '/' ? mounted === device : workspacePath.endsWith(source);
    });
  });
}

/** Processes with a word in their arguments, in any namespace. */
export const processesWith = (word: string): number[] =>
  pids().filter(
    (pid) => pid !== process.pid && tryRead(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.includes(word),
  );

/** Children, grandchildren and so on of a process. */
export function descendants(root: number): number[] {
  const parents = new Map(pids().map((pid) => [pid, parentOf(pid)]));
  const below = (pid: number): boolean => {
    for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) if (at === root) return true;
    return false;
  };
  return [...parents.keys()].filter(below);
}

/** Targets of a process's fds, by number. */
export function descriptorsOf(pid: number): Map<number, string> {
  const numbers = tryRead(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return new Map(numbers.map((name) => [Number(name), tryRead(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? '']));
}

export const argumentsOf = (pid: number): string => tryRead(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';

function parentOf(pid: number): number | undefined {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return text === null ? undefined : Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Null for an ended process, or a process closed to this user. */
function tryRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
