import { lstatSync } from 'node:fs';
import { measureUnlinkedUsage, type UnlinkedUsage } from './unlinked-usage.ts';

/** Sampling takes at most 1/20 of the time. */
const maxShare = 20;
const noUsage: UnlinkedUsage = { disk: 0, memory: 0, sockets: 0, pipes: 0, uncounted: { disk: false, memory: false } };

/** Measures a command's use of disk and memory, except for the named files of its workspace. */
export class UnlinkedUsageSampler {
  readonly #path: string;
  readonly #now: () => number;
  #last: { usage: UnlinkedUsage; free: number; available: number; at: number; took_ms: number } | undefined;

  /** @param now monotonic clock in milliseconds */
  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
  }

  /**
   * The use, at most a single sample out of date. Many processes are sampled rarely, unless the disk or the host's memory has lost space
   * since.
   *
   * @param input.free free bytes of the file system
   * @param input.remaining bytes left for the workspace to grow
   * @param input.available bytes of free memory on the host
   * @param input.memory memory limit of the command in bytes
   */
  async sample(input: {
    processes: readonly number[];
    free: number;
    remaining: number;
    available: number;
    memory: number;
  }): Promise<UnlinkedUsage> {
    const { processes, free, remaining, available, memory } = input;
    const started = this.#now();
    const last = this.#last;
    const isRecent = last && started - last.at < maxShare * last.took_ms;
    if (isRecent && last.free - free < remaining / 2 && last.available - available < memory / 4) return last.usage;
    const device = deviceOf(this.#path);
    if (device === null || processes.length === 0) return noUsage;
    const usage = await measureUnlinkedUsage({ device, processes, root: process.getuid?.() === 0 });
    const at = this.#now();
    this.#last = { usage, free, available, at, took_ms: at - started };
    return usage;
  }
}

function deviceOf(path: string): bigint | null {
  try {
    return lstatSync(path, { bigint: true }).dev;
  } catch {
    return null; // the workspace is gone
  }
}
