import { readFileSync, statfsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const mib = 1024 * 1024;
/** Writing this much at the speed of memory takes a second. */
const ampleBytes = 4096 * mib;
const calmPollMs = 100;
const alertPollMs = 10;
/** Time until a kill stops the writing. */
const killDelayMs = 150;
/** How long the guard compares the writers before a kill. */
const compareMs = 5;
/** A command writing this much during a comparison counts as fast. */
const fastBytes = mib / 4;
const killTimeoutMs = 1000;
/** Interval of the comparisons while space is short but does not fall. */
const compareAgainMs = 200;

/** A running command. */
export interface Writer {
  /** Host path of the command's workspace. */
  path: string;
  /** Bytes written so far, deleted files included. */
  wrote(): number;
  /** Kills the command. Resolves when no process of the command runs. */
  kill(): Promise<unknown>;
}

interface Sample {
  free: number;
  at: number;
}

/**
 * Keeps commands from filling the disk, because the log lies on the same disk. The guard reads the free space only, not the sizes of
 * workspaces. When the file system has less free space than the floor, or will have within moments, the guard kills the command writing
 * most, then the next command while space keeps falling. When another program of the host fills the disk, the guard spares commands with
 * few written bytes.
 */
export class SpaceGuard {
  readonly #floor: number;
  readonly #now: () => number;
  readonly #onLow: (free: number) => void;
  readonly #writers = new Set<Writer>();
  #timer: NodeJS.Timeout | undefined;
  /** The last sample of each path's file system. */
  #samples = new Map<string, Sample>();
  /** Free space at the last comparison, or after the last kill. With less free space now, a program is still writing. */
  #settled = Number.POSITIVE_INFINITY;
  #comparedAt = Number.NEGATIVE_INFINITY;
  /** Bytes written by each command until the last comparison. */
  readonly #compared = new WeakMap<Writer, number>();

  /**
   * @param input.floor minimum of free bytes
   * @param input.now monotonic clock in milliseconds
   * @param input.onLow called before a command is killed
   */
  constructor(input: { floor: number; now: () => number; onLow?: ((free: number) => void) | undefined }) {
    this.#floor = input.floor;
    this.#now = input.now;
    this.#onLow = input.onLow ?? (() => {});
  }

  get floor(): number {
    return this.#floor;
  }

  /** @returns a function that ends the guarding of this command */
  enter(writer: Writer): () => void {
    if (this.#floor === 0) return () => {};
    this.#writers.add(writer);
    if (this.#writers.size === 1) this.#schedule(0);
    return () => {
      this.#writers.delete(writer);
      if (this.#writers.size > 0) return;
      clearTimeout(this.#timer);
      this.#samples.clear();
      this.#settled = Number.POSITIVE_INFINITY;
    };
  }

  #schedule(inMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(), inMs);
  }

  async #check(): Promise<void> {
    let least = Number.POSITIVE_INFINITY;
    for (const { path } of this.#writers) {
      const free = freeBytes(path);
      least = Math.min(least, free);
      if (this.#isLow(path, free)) await this.#relieve(path, free);
    }
    if (least > this.#floor) this.#settled = Number.POSITIVE_INFINITY;
    if (this.#writers.size > 0) this.#schedule(least > this.#floor + ampleBytes ? calmPollMs : alertPollMs);
  }

  #isLow(path: string, free: number): boolean {
    const last = this.#samples.get(path);
    const at = this.#now();
    this.#samples.set(path, { free, at });
    if (free < this.#floor) return free < this.#settled - this.#floor / 64 || at - this.#comparedAt > compareAgainMs;
    const perMs = last && at > last.at ? Math.max(0, last.free - free) / (at - last.at) : 0;
    return free - perMs * killDelayMs < this.#floor / 2;
  }

  async #relieve(path: string, free: number): Promise<void> {
    const writers = [...this.#writers];
    const before = writers.map((writer) => writer.wrote());
    await delay(compareMs);
    const compared = writers.map((writer, index) => {
      const [first = 0, second] = [before[index], writer.wrote()];
      // A process hides its count for a moment during its set-up. A process hiding its count for longer is suspect.
      const total = Number.isFinite(second) ? second : first;
      return { writer, total, fast: second - first >= fastBytes && Number.isFinite(second) ? second - first : 0 };
    });
    const candidates = compared
      .filter(({ writer, total, fast }) => {
        const since = total - (this.#compared.get(writer) ?? 0);
        return this.#writers.has(writer) && (fast > 0 || since >= this.#minWritten(free));
      })
      .sort((one, other) => other.fast - one.fast || (other.total > one.total ? 1 : -1));
    for (const { writer, total } of compared) this.#compared.set(writer, total);
    this.#comparedAt = this.#now();
    const [largest] = candidates;
    if (!largest) {
      this.#settled = free; // no command fills the disk
      return;
    }
    this.#onLow(free);
    await Promise.race([largest.writer.kill(), delay(killTimeoutMs, undefined, { ref: false })]);
    this.#settled = freeBytes(path);
    this.#samples.delete(path);
  }

  /** Minimum of written bytes for a kill. */
  #minWritten(free: number): number {
    return free < this.#floor / 2 ? Math.min(mib, this.#floor / 64) : this.#floor / 4;
  }
}

/** Free space for an unprivileged user. */
function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // the workspace is gone
  }
}

/**
 * Bytes written by the processes to file systems on disks, through mapped files and by ended children as well. Infinity when a process
 * hides its count.
 */
export function writtenBy(processes: readonly number[]): number {
  let bytes = 0;
  for (const pid of processes) {
    try {
      bytes += Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EPERM') return Number.POSITIVE_INFINITY;
    }
  }
  return bytes;
}
