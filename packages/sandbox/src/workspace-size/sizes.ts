import { statfsSync } from 'node:fs';
import { walk } from './walk.ts';

/** What the names in a workspace take of its disk. */
export interface Size {
  bytes: number;
  /** Free bytes of its file system now. */
  free: number;
  /** Whether directories could not be looked into, so that it may be more. */
  closed: boolean;
}

/** Counts a tree with the rights of its owner over closed directories. Null when that failed. */
export type WalkClosed = (path: string, enough: number) => Promise<number | null>;

interface Measured extends Size {
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

  /** Whether the tree was too large when it was last measured. */
  wasOver(path: string, limit: number): boolean {
    return (this.#known.get(path)?.bytes ?? 0) > limit;
  }

  /**
   * The size of the tree in bytes, at most one look out of date. A tree that takes long to walk is walked rarely, unless its file system
   * has lost so much space meanwhile that it may have passed its limit.
   *
   * @param input.limit of interest
   * @param input.enough a larger size need not be known exactly
   * @param input.walkClosed for a worker that may not read all directories of its own
   */
  async measure(input: {
    path: string;
    limit: number;
    enough: number;
    walkClosed?: WalkClosed | undefined;
  }): Promise<Size> {
    const { path, limit, enough } = input;
    const free = freeBytes(path);
    const last = this.#known.get(path);
    const started = this.#now();
    const grown = last ? last.free - free : 0;
    const isRecent = last && started - last.at < SHARE * last.took_ms;
    if (isRecent && last.bytes <= limit && grown < (limit - last.bytes) / 2) return { ...last, free };
    const walked = await walk(path, enough);
    const all = walked.closed ? ((await input.walkClosed?.(path, enough)) ?? null) : walked.bytes;
    const now = this.#now();
    const size = { bytes: all ?? walked.bytes, free, closed: all === null };
    this.#known.delete(path);
    this.#known.set(path, { ...size, at: now, took_ms: now - started });
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT_WORKSPACES && oldest !== undefined) this.#known.delete(oldest);
    return size;
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
