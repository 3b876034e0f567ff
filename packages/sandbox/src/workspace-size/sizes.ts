import { statfsSync } from 'node:fs';
import { walk } from './walk.ts';

/** Disk use of the named files in a workspace. */
export interface Size {
  bytes: number;
  /** Free bytes of the workspace's file system. */
  free: number;
  /** Whether directories were unreadable, so the real size may be larger. */
  unreadable: boolean;
}

/** Measures a tree with its owner's access to unreadable directories. Null on failure. */
export type WalkUnreadable = (path: string, enough: number) => Promise<number | null>;

interface Measured extends Size {
  at: number;
  took_ms: number;
  /** The tree has so few entries that every check walks the tree. */
  isSmall: boolean;
}

/** Measuring one workspace takes at most 1/20 of the time. */
const maxShare = 20;
/**
 * A walk of so many entries takes 5 ms of work, 1/20 of the interval of checks. The time of a small walk on a busy host says nothing about
 * its work, and the free space says nothing where other programs free space: a size out of date would let a command pass its limit.
 */
const smallTree = 1000;
const maxKnown = 1000;

/** The last known sizes of workspaces. */
export class WorkspaceSizes {
  readonly #now: () => number;
  readonly #known = new Map<string, Measured>();
  /** Running walks, by path. */
  readonly #walks = new Map<string, Promise<unknown>>();

  /** @param now monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the last measurement was over the limit. */
  wasOver(path: string, limit: number): boolean {
    return (this.#known.get(path)?.bytes ?? 0) > limit;
  }

  /**
   * The size of the tree; for more than 1,000 entries at most a single measurement out of date. A tree with long walks is walked rarely,
   * unless the file system has lost much space and the tree may be over its limit.
   *
   * @param input.limit the limit to compare with
   * @param input.enough a larger size need not be exact
   * @param input.walkUnreadable measures a tree with directories unreadable for the worker
   */
  async measure(input: {
    path: string;
    limit: number;
    enough: number;
    walkUnreadable?: WalkUnreadable | undefined;
  }): Promise<Size> {
    const { path, limit } = input;
    // Parallel commands of a workspace wait for the same walk, also for a walk begun earlier.
    for (let walking = this.#walks.get(path); walking; walking = this.#walks.get(path)) await walking;
    const free = freeBytes(path);
    const last = this.#known.get(path);
    const started = this.#now();
    const grown = last ? last.free - free : 0;
    const isRecent = last && !last.isSmall && started - last.at < maxShare * last.took_ms;
    if (isRecent && last.bytes <= limit && grown < (limit - last.bytes) / 2) return { ...last, free };
    const walking = this.#walk(input, free);
    const ended = walking.catch(() => {}).then(() => this.#walks.delete(path));
    this.#walks.set(path, ended);
    return walking;
  }

  async #walk(
    {
      path,
      enough,
      walkUnreadable,
    }: Pick<Parameters<WorkspaceSizes['measure']>[0], 'path' | 'enough' | 'walkUnreadable'>,
    free: number,
  ): Promise<Size> {
    const started = this.#now();
    const walked = await walk(path, enough);
    const all = walked.unreadable ? ((await walkUnreadable?.(path, enough)) ?? null) : walked.bytes;
    const now = this.#now();
    const size = { bytes: all ?? walked.bytes, free, unreadable: all === null };
    this.#known.delete(path);
    const isSmall = !walked.unreadable && walked.entries <= smallTree;
    this.#known.set(path, { ...size, at: now, took_ms: now - started, isSmall });
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest);
    return size;
  }
}

/** Free bytes of the file system of a path. */
export function freeBytes(path: string): number {
  try {
    const { bfree, bsize } = statfsSync(path);
    return bfree * bsize;
  } catch {
    return 0; // the workspace is gone
  }
}
