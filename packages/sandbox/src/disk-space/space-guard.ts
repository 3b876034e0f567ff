import { statfsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const MIB = 1024 * 1024;
/** Plenty: a command that writes at the speed of memory takes a second for so much. */
const PLENTY = 4096 * MIB;
const CALM_MS = 100;
const ALERT_MS = 10;
/** A kill may take so long until it stops the writing. */
const HORIZON_MS = 150;
/** How long writers are compared before one is killed. */
const COMPARE_MS = 5;
/** Who writes as much while they are compared writes fast. */
const FAST = MIB / 4;
const DEATH_MS = 1000;
/** While space stays short and does not fall, writers are compared as often. */
const AGAIN_MS = 200;

/** A running command. */
export interface Writer {
  /** Host path of its workspace. */
  path: string;
  /** Bytes that it has written so far, whatever became of them. */
  wrote(): number;
  /** Kills it. Resolves when nothing of it runs. */
  kill(): Promise<unknown>;
}

interface Look {
  free: number;
  at: number;
}

/**
 * Keeps commands from filling the disk that they share with the log. It depends on no count of what a workspace has: when the file system
 * has less free space than the floor, or will have within moments, the command that writes most is killed, and then the next one while
 * space goes on to fall. Commands that write little are left alone when something else fills the disk.
 */
export class SpaceGuard {
  readonly #floor: number;
  readonly #now: () => number;
  readonly #onLow: (free: number) => void;
  readonly #writers = new Set<Writer>();
  #timer: NodeJS.Timeout | undefined;
  /** The last look at each path's file system. */
  #looks = new Map<string, Look>();
  /** Free space when writers were last compared, or the one that was killed had ended. Less than this means that something still writes. */
  #settled = Number.POSITIVE_INFINITY;
  #comparedAt = Number.NEGATIVE_INFINITY;
  /** What each had written when they were last compared. */
  readonly #compared = new WeakMap<Writer, number>();

  /**
   * @param input.floor bytes that must stay free
   * @param input.now milliseconds of a clock that only goes forward
   * @param input.onLow called when a command is about to be killed
   */
  constructor(input: { floor: number; now: () => number; onLow?: ((free: number) => void) | undefined }) {
    this.#floor = input.floor;
    this.#now = input.now;
    this.#onLow = input.onLow ?? (() => {});
  }

  get floor(): number {
    return this.#floor;
  }

  /** @returns what ends the guarding of this command */
  enter(writer: Writer): () => void {
    if (this.#floor === 0) return () => {};
    this.#writers.add(writer);
    if (this.#writers.size === 1) this.#again(0);
    return () => {
      this.#writers.delete(writer);
      if (this.#writers.size > 0) return;
      clearTimeout(this.#timer);
      this.#looks.clear();
      this.#settled = Number.POSITIVE_INFINITY;
    };
  }

  #again(inMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), inMs);
  }

  async #look(): Promise<void> {
    let least = Number.POSITIVE_INFINITY;
    for (const { path } of this.#writers) {
      const free = freeBytes(path);
      least = Math.min(least, free);
      if (this.#isLow(path, free)) await this.#relieve(path, free);
    }
    if (least > this.#floor) this.#settled = Number.POSITIVE_INFINITY;
    if (this.#writers.size > 0) this.#again(least > this.#floor + PLENTY ? CALM_MS : ALERT_MS);
  }

  #isLow(path: string, free: number): boolean {
    const last = this.#looks.get(path);
    const at = this.#now();
    this.#looks.set(path, { free, at });
    if (free < this.#floor) return free < this.#settled - this.#floor / 64 || at - this.#comparedAt > AGAIN_MS;
    const perMs = last && at > last.at ? Math.max(0, last.free - free) / (at - last.at) : 0;
    return free - perMs * HORIZON_MS < this.#floor / 2;
  }

  async #relieve(path: string, free: number): Promise<void> {
    const writers = [...this.#writers];
    const before = writers.map((writer) => writer.wrote());
    await delay(COMPARE_MS);
    const compared = writers.map((writer, index) => {
      const [first = 0, second] = [before[index], writer.wrote()];
      // A process that is being set up hides it for a moment; one that still does has a reason.
      const total = Number.isFinite(second) ? second : first;
      return { writer, total, fast: second - first >= FAST && Number.isFinite(second) ? second - first : 0 };
    });
    const candidates = compared
      .filter(({ writer, total, fast }) => {
        const since = total - (this.#compared.get(writer) ?? 0);
        return this.#writers.has(writer) && (fast > 0 || since >= this.#least(free));
      })
      .sort((one, other) => other.fast - one.fast || (other.total > one.total ? 1 : -1));
    for (const { writer, total } of compared) this.#compared.set(writer, total);
    this.#comparedAt = this.#now();
    const [largest] = candidates;
    if (!largest) {
      this.#settled = free; // something else fills the disk
      return;
    }
    this.#onLow(free);
    await Promise.race([largest.writer.kill(), delay(DEATH_MS, undefined, { ref: false })]);
    this.#settled = freeBytes(path);
    this.#looks.delete(path);
  }

  /** What a command has written at least to be worth the kill. */
  #least(free: number): number {
    return free < this.#floor / 2 ? Math.min(MIB, this.#floor / 64) : this.#floor / 4;
  }
}

/** What a user without special rights may still write. */
function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // the workspace is gone
  }
}
