import { statfsSync } from 'node:fs';
import { unlinkedBytes, walk } from './walk.ts';

interface Measured {
  bytes: number;
  /** Free bytes of the file system when it was measured. */
  free: number;
  at: number;
  took_ms: number;
}

/** Of its time, the measuring of one workspace takes at most one part in so many. */
const SHARE = 20;
const KEPT_WORKSPACES = 1000;

/** The last known sizes of workspaces. */
export class WorkspaceSizes {
  readonly #now: () => number;
  readonly #known = new Map<string, Measured>();

  /** @param now milliseconds of a clock that only goes forward */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The size of the tree in bytes, at most one look out of date. A tree that takes long to walk is walked rarely, unless its file system
   * has lost so much space meanwhile that it may have passed its limit.
   *
   * @param input.limit of interest
   * @param input.enough a larger size need not be known exactly
   * @param input.processes who may hold files open that have no name any more
   */
  async measure(input: { path: string; limit: number; enough: number; processes: readonly number[] }): Promise<number> {
    const { path, limit } = input;
    const free = freeBytes(path);
    const last = this.#known.get(path);
    const started = this.#now();
    const grown = last ? last.free - free : 0;
    if (last && started - last.at < SHARE * last.took_ms && grown < (limit - last.bytes) / 2) return last.bytes;
    const named = await walk(path, input.enough);
    const unlinked = named <= input.enough && input.processes.length > 0 ? unlinkedBytes(path, input.processes) : 0;
    const now = this.#now();
    const bytes = named + unlinked;
    this.#known.delete(path);
    this.#known.set(path, { bytes, free, at: now, took_ms: now - started });
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT_WORKSPACES && oldest !== undefined) this.#known.delete(oldest);
    return bytes;
  }
}

function freeBytes(path: string): number {
  try {
    const { bfree, bsize } = statfsSync(path);
    return bfree * bsize;
  } catch {
    return 0; // the workspace is gone
  }
}
