import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../port.ts';
import { attachFile, counters, settingsOf, type Usage } from './files.ts';
import type { Place } from './place.ts';

/**
 * The control group of one command: a directory of the same name in each of our places. Where processors are shared out, it lies in one of its
 * run: the groups of runs weigh the same, so a run has no larger share for having more commands.
 */
export class CommandGroup {
  readonly #places: readonly Place[];
  readonly #name: string;
  readonly #run: string;

  /** Makes it and sets its limits. Throws what the file system throws; nothing is left then. */
  constructor(places: readonly Place[], input: { name: string; run: string; limits: Limits }) {
    this.#places = places;
    this.#name = input.name;
    this.#run = input.run;
    try {
      for (const place of places) this.#make(place, input.limits);
    } catch (error) {
      this.tryRemove();
      throw error;
    }
  }

  /** Descriptors to which a process writes `0` to come in. To be closed by the caller. */
  openDoors(): number[] {
    const doors: number[] = [];
    try {
      for (const place of this.#places) doors.push(openSync(this.#path(place, attachFile[place.version]), 'w'));
    } catch (error) {
      for (const door of doors) closeSync(door);
      throw error;
    }
    return doors;
  }

  /** What it used so far; zero where no controller counts it. */
  usage(): Usage {
    return {
      memory_kills: this.#count('memory_kills'),
      refused_processes: this.#count('refused_processes'),
      cpu_ms: this.#count('cpu_ms'),
      throttled_periods: this.#count('throttled_periods'),
    };
  }

  /** Host pids of its processes. */
  processes(): number[] {
    const [place] = this.#places;
    const list = place ? read(this.#path(place, 'cgroup.procs')) : null;
    return (list ?? '').split('\n').filter(Boolean).map(Number);
  }

  /** False while the kernel still has processes in it. */
  tryRemove(): boolean {
    return this.#places
      .map((place) => {
        const isGone = tryRemoveGroup(this.#path(place));
        if (sharesProcessors(place)) tryRemoveGroup(join(place.directory, this.#run));
        return isGone;
      })
      .every(Boolean);
  }

  #make(place: Place, limits: Limits): void {
    if (sharesProcessors(place)) makeRunGroup(place, this.#run);
    mkdirSync(this.#path(place));
    for (const { controller, file, value, optional } of settingsOf(place.version, limits)) {
      if (!place.controllers.includes(controller)) continue;
      try {
        writeFileSync(this.#path(place, file), value, { flag: 'r+' });
      } catch (error) {
        if (!optional) throw error;
      }
    }
  }

  #count(name: keyof Usage): number {
    for (const place of this.#places) {
      const { controller, file, word, unit } = counters[place.version][name];
      if (!place.controllers.includes(controller)) continue;
      const text = read(this.#path(place, file)) ?? '';
      const number = word === null ? text : new RegExp(`^${word} (\\d+)$`, 'm').exec(text)?.[1];
      return Number(number ?? 0) * unit;
    }
    return 0;
  }

  #path(place: Place, file = ''): string {
    return join(place.directory, sharesProcessors(place) ? this.#run : '', this.#name, file);
  }
}

const sharesProcessors = ({ controllers }: Place): boolean => controllers.includes('cpu');

function makeRunGroup({ directory, version, controllers }: Place, run: string): void {
  const path = join(directory, run);
  const isNew = mkdirSync(path, { recursive: true }) !== undefined;
  if (!isNew || version === 1) return;
  const given = controllers.filter((name) => name !== 'cpuacct');
  writeFileSync(join(path, 'cgroup.subtree_control'), given.map((name) => `+${name}`).join(' '), { flag: 'r+' });
}

export function tryRemoveGroup(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // it was removed
  }
}
