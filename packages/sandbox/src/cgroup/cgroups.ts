import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as next } from 'node:timers/promises';
import type { ProcessLimits } from '@holdpoint/contract';
import { identify, pidNamespace } from '@holdpoint/process';
import { killProcess } from '../kill.ts';
import { type CgroupDir, makeCgroupDirs } from './cgroup-dir.ts';
import { CommandGroup, tryRemoveGroup } from './command-group.ts';
import { locateHierarchies } from './locate.ts';

/** Limits of a whole command, as enforced by its control group. */
export interface CgroupLimits {
  memory: boolean;
  processes: boolean;
  cpu: boolean;
}

/** Time for killed processes to leave their group. A killed process leaves after freeing its memory. */
const removalTimeoutMs = 5000;

/** The control groups of this worker's commands, tool hosts and parsers. */
export class Cgroups {
  readonly #dirs: readonly CgroupDir[];
  readonly #owner: string;
  readonly #removing = new Set<Promise<void>>();

  /** @param dirs parents of the groups; at least one */
  constructor(dirs: readonly CgroupDir[]) {
    this.#dirs = dirs;
    this.#owner = ownName();
  }

  /** Number of fds from `CommandGroup.openAttachFds`. */
  get fdCount(): number {
    return this.#dirs.length;
  }

  get limits(): CgroupLimits {
    const has = (...names: string[]) =>
      names.every((name) => this.#dirs.some(({ controllers }) => (controllers as string[]).includes(name)));
    return { memory: has('memory'), processes: has('pids'), cpu: has('cpu', 'cpuacct') };
  }

  /** Keeps the controllers of these limits only. Null when none is left. */
  withOnly(limits: CgroupLimits): Cgroups | null {
    const { memory, processes, cpu } = limits;
    const kept = [memory && 'memory', processes && 'pids', cpu && 'cpu', cpu && 'cpuacct'];
    const dirs = this.#dirs.map((dir) => ({
      ...dir,
      controllers: dir.controllers.filter((name) => kept.includes(name)),
    }));
    const useful = dirs.filter(({ controllers }) => controllers.length > 0);
    return useful.length === 0 ? null : new Cgroups(useful);
  }

  /**
   * All commands together get half of a worker process's share, so the worker stays ahead of the commands. Tool hosts and parsers get the
   * share of a whole process: a file tool in the group of commands would wait behind every command of the host.
   *
   * @param of.workspace id: the commands of each workspace together get the same share of the processors
   * @param of.isOwn a tool host or a parser
   */
  make(limits: ProcessLimits, { workspace, isOwn }: { workspace: string; isOwn: boolean }): CommandGroup {
    const run = `${this.#owner}-of-${workspace.replaceAll(/[^\w-]/g, '_')}`;
    const dirs = isOwn ? this.#dirs.map((dir) => ({ ...dir, directory: dir.own })) : this.#dirs;
    return new CommandGroup(dirs, { name: `${this.#owner}-${randomUUID()}`, run, limits });
  }

  /**
   * Removes a group with killed processes, after the command's result is on its way. When the removal fails, the next worker's sweep
   * removes the group.
   */
  remove(group: CommandGroup): void {
    const removing = this.#remove(group).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  /** Resolves when all removals have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#removing);
  }

  /** Removes the groups of dead workers, and kills their members. */
  sweep(): void {
    for (const directory of new Set(this.#dirs.flatMap((dir) => [dir.directory, dir.own]))) {
      for (const name of readdirSync(directory)) {
        if (!isAbandoned(name, this.#owner)) continue;
        const path = join(directory, name);
        for (const below of groupsIn(path)) removeWithMembers(join(path, below));
        removeWithMembers(path);
      }
    }
  }

  async #remove(group: CommandGroup): Promise<void> {
    await next();
    if (group.tryRemove()) return;
    let waited = 0;
    for (let pause = 1; waited < removalTimeoutMs; pause = Math.min(pause * 2, 50)) {
      await delay(pause);
      waited += pause;
      if (group.tryRemove()) return;
    }
  }
}

/** Null when this process may not create control groups. */
export function openCgroups(): Cgroups | null {
  if (process.platform !== 'linux') return null;
  const dirs = makeCgroupDirs(
    locateHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8')),
  );
  if (dirs.length === 0) return null;
  const cgroups = new Cgroups(dirs);
  cgroups.sweep();
  return cgroups;
}

/** Name of this process: pid namespace, pid and start time. A pid of another namespace is meaningless here. */
function ownName(): string {
  const self = identify(process.pid);
  return `${pidNamespace()}-${process.pid}-${self?.start ?? 0}`;
}

function isAbandoned(name: string, owner: string): boolean {
  const [, namespace, pid, start] = /^(\d+)-(\d+)-(\d+)-(?:[0-9a-f-]{36}|of-[\w-]+)$/.exec(name) ?? [];
  if (name.startsWith(`${owner}-`) || namespace !== pidNamespace()) return false;
  return identify(Number(pid))?.start !== Number(start);
}

function removeWithMembers(path: string): void {
  for (const pid of membersOf(path)) {
    const member = identify(pid);
    if (member) killProcess(member);
  }
  tryRemoveGroup(path);
}

/** The groups of commands in the group of a run. */
function groupsIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return []; // removed by another worker's sweep
  }
}

function membersOf(path: string): number[] {
  try {
    return readFileSync(join(path, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean).map(Number);
  } catch {
    return []; // not a group, or removed by another worker's sweep
  }
}
