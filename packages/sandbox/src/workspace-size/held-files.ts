import { lstatSync } from 'node:fs';
import { type Holdings, holdingsOf } from '../process/holdings.ts';

/** Looking at the processes of one command takes at most one part in so many of the watch's time. */
const SHARE = 20;
const NOTHING: Holdings = { disk: 0, memory: 0, sockets: 0, pipes: 0, uncounted: { disk: false, memory: false } };

/** What one command holds beside the names in its workspace. */
export class HeldFiles {
  readonly #path: string;
  readonly #now: () => number;
  #last: { held: Holdings; free: number; available: number; at: number; took_ms: number } | undefined;

  /** @param now milliseconds of a clock that only goes forward */
  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
  }

  /**
   * At most one look out of date. Many processes are looked at rarely, unless the disk has lost space since, or the host memory.
   *
   * @param input.free bytes of the file system now
   * @param input.room bytes that the workspace may still grow by
   * @param input.available bytes of memory that the host has left
   * @param input.memory bytes of memory that the command may take
   */
  async look(input: {
    processes: readonly number[];
    free: number;
    room: number;
    available: number;
    memory: number;
  }): Promise<Holdings> {
    const { processes, free, room, available, memory } = input;
    const started = this.#now();
    const last = this.#last;
    const isRecent = last && started - last.at < SHARE * last.took_ms;
    if (isRecent && last.free - free < room / 2 && last.available - available < memory / 4) return last.held;
    const device = deviceOf(this.#path);
    if (device === null || processes.length === 0) return NOTHING;
    const held = await holdingsOf({ device, processes, root: process.getuid?.() === 0 });
    const at = this.#now();
    this.#last = { held, free, available, at, took_ms: at - started };
    return held;
  }
}

function deviceOf(path: string): bigint | null {
  try {
    return lstatSync(path, { bigint: true }).dev;
  } catch {
    return null; // the workspace is gone
  }
}
