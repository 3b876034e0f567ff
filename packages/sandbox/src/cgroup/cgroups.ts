import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identify, pidNamespace } from '@holdpoint/process';
import type { Limits } from '../port.ts';
import { killProcess } from '../process/kill.ts';
import { CommandGroup, tryRemoveGroup } from './command-group.ts';
import { locateHierarchies } from './locate.ts';
import { makePlaces, type Place } from './place.ts';

/** Which bounds of a whole command the kernel keeps for us. */
export interface Held {
  memory: boolean;
  processes: boolean;
  cpu: boolean;
}

/** A killed process leaves its group when it has freed its memory. */
const REMOVAL_PATIENCE_MS = 5000;

/** The control groups of this worker's commands. */
export class Cgroups {
  readonly #places: readonly Place[];
  readonly #owner: string;
  readonly #removing = new Set<Promise<void>>();

  /** @param places where to make them; at least one */
  constructor(places: readonly Place[]) {
    this.#places = places;
    this.#owner = ownName();
  }

  /** How many descriptors a group's `openDoors` gives. */
  get doors(): number {
    return this.#places.length;
  }

  get held(): Held {
    const has = (...names: string[]) =>
      names.every((name) => this.#places.some(({ controllers }) => (controllers as string[]).includes(name)));
    return { memory: has('memory'), processes: has('pids'), cpu: has('cpu', 'cpuacct') };
  }

  /** The same with only some of its bounds: those that were seen to hold. Null when none is left. */
  only(held: Held): Cgroups | null {
    const kept = [held.memory && 'memory', held.processes && 'pids', held.cpu && 'cpu', held.cpu && 'cpuacct'];
    const places = this.#places.map((place) => ({
      ...place,
      controllers: place.controllers.filter((name) => kept.includes(name)),
    }));
    const useful = places.filter(({ controllers }) => controllers.length > 0);
    return useful.length === 0 ? null : new Cgroups(useful);
  }

  /** @param workspace the commands of one have together the same share of the processors as those of another */
  make(limits: Limits, workspace: string): CommandGroup {
    const run = `${this.#owner}-of-${workspace.replaceAll(/[^\w-]/g, '_')}`;
    return new CommandGroup(this.#places, { name: `${this.#owner}-${randomUUID()}`, run, limits });
  }

  /** Removes a group whose processes were killed, now or soon. One that stays is for the next worker's sweep. */
  remove(group: CommandGroup): void {
    if (group.tryRemove()) return;
    const removing = this.#retry(group).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  /** Resolves when nothing is left to be removed. */
  async settled(): Promise<void> {
    await Promise.all(this.#removing);
  }

  /** Removes the groups of workers that are gone, with whatever still runs in them. */
  sweep(): void {
    for (const { directory } of this.#places) {
      for (const name of readdirSync(directory)) {
        if (!isLeftOver(name, this.#owner)) continue;
        const path = join(directory, name);
        for (const below of groupsIn(path)) removeWithMembers(join(path, below));
        removeWithMembers(path);
      }
    }
  }

  async #retry(group: CommandGroup): Promise<void> {
    let waited = 0;
    for (let pause = 1; waited < REMOVAL_PATIENCE_MS; pause = Math.min(pause * 2, 50)) {
      await delay(pause);
      waited += pause;
      if (group.tryRemove()) return;
    }
  }
}

/** Null where this process may not make control groups. */
export function openCgroups(): Cgroups | null {
  if (process.platform !== 'linux') return null;
  const places = makePlaces(
    locateHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8')),
  );
  if (places.length === 0) return null;
  const cgroups = new Cgroups(places);
  cgroups.sweep();
  return cgroups;
}

/** Its pid namespace, because a pid of another one says nothing here; its pid and start time. */
function ownName(): string {
  const self = identify(process.pid);
  return `${pidNamespace()}-${process.pid}-${self?.start ?? 0}`;
}

function isLeftOver(name: string, owner: string): boolean {
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

/** Of a run's group, those of its commands. */
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
