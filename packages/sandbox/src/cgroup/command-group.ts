import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessLimits } from '@holdpoint/contract';
import { attachFile, type CgroupDir, counters, settingsOf, type Usage } from './cgroup-dir.ts';

/**
 * The control group of a command: a directory of the same name in each hierarchy. In the hierarchy with the cpu controller the directory
 * lies in the group of the run. All runs have the same weight, so a run gets no larger share of the processors by running more commands.
 */
export class CommandGroup {
  readonly #dirs: readonly CgroupDir[];
  readonly #name: string;
  readonly #run: string;

  /** Creates the group and sets its limits. On an error of the file system, removes the group and throws the error. */
  constructor(dirs: readonly CgroupDir[], input: { name: string; run: string; limits: ProcessLimits }) {
    this.#dirs = dirs;
    this.#name = input.name;
    this.#run = input.run;
    try {
      for (const dir of dirs) this.#make(dir, input.limits);
    } catch (error) {
      this.tryRemove();
      throw error;
    }
  }

  /** Fds of the group's files. A process enters the group by writing `0` to each file. The caller closes them. */
  openAttachFds(): number[] {
    const fds: number[] = [];
    try {
      for (const dir of this.#dirs) fds.push(openSync(this.#path(dir, attachFile[dir.version]), 'w'));
    } catch (error) {
      for (const fd of fds) closeSync(fd);
      throw error;
    }
    return fds;
  }

  /** Use so far. Zero for a use without a counting controller. */
  usage(): Usage {
    return {
      memory_kills: this.#count('memory_kills'),
      refused_processes: this.#count('refused_processes'),
      cpu_ms: this.#count('cpu_ms'),
      memory_peak_bytes: this.#count('memory_peak_bytes'),
      throttled_periods: this.#count('throttled_periods'),
    };
  }

  /** Host pids of the members. */
  processes(): number[] {
    const [dir] = this.#dirs;
    const list = dir ? read(this.#path(dir, 'cgroup.procs')) : null;
    return (list ?? '').split('\n').filter(Boolean).map(Number);
  }

  /** False while the kernel still has processes in the group. */
  tryRemove(): boolean {
    return this.#dirs
      .map((dir) => {
        const isGone = tryRemoveGroup(this.#path(dir));
        if (hasCpu(dir)) tryRemoveGroup(join(dir.directory, this.#run));
        return isGone;
      })
      .every(Boolean);
  }

  #make(dir: CgroupDir, limits: ProcessLimits): void {
    if (hasCpu(dir)) makeRunGroup(dir, this.#run);
    mkdirSync(this.#path(dir));
    for (const { controller, file, value, optional } of settingsOf(dir.version, limits)) {
      if (!dir.controllers.includes(controller)) continue;
      try {
        writeFileSync(this.#path(dir, file), value, { flag: 'r+' });
      } catch (error) {
        if (!optional) throw error;
      }
    }
  }

  #count(name: keyof Usage): number {
    for (const dir of this.#dirs) {
      const { controller, file, word, unit } = counters[dir.version][name];
      if (!dir.controllers.includes(controller)) continue;
      const text = read(this.#path(dir, file)) ?? '';
      const number = word === null ? text : new RegExp(`^${word} (\\d+)$`, 'm').exec(text)?.[1];
      return Number(number ?? 0) * unit;
    }
    return 0;
  }

  #path(dir: CgroupDir, file = ''): string {
    return join(dir.directory, hasCpu(dir) ? this.#run : '', this.#name, file);
  }
}

const hasCpu = ({ controllers }: CgroupDir): boolean => controllers.includes('cpu');

function makeRunGroup({ directory, version, controllers }: CgroupDir, run: string): void {
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
    return readFileSync(path, 'utf8');
  } catch {
    return null; // the group was removed
  }
}
