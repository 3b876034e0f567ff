import { createHash } from 'node:crypto';

/** Milliseconds of processor time for `work` on a quiet machine with two cores, warm. */
const quietMs = 16;
const everyMs = 1000;
/** A machine that is slower still is no machine to judge a delay on: the limit grows no further. */
const slowest = 4;

export interface SpeedWatch {
  /** Processor time of the work here, in multiples of a quiet machine's, from 1 to 4: the upper quartile so far. */
  slowness(): number;
  stop(): void;
}

/**
 * Does the same work every second beside a test and measures its processor time. On a shared machine, neighbours on the same core and full
 * caches make the same work two or three times as long, so a limit in milliseconds of computing needs this factor.
 */
export function watchSpeed(): SpeedWatch {
  const taken: number[] = [];
  work();
  const timer = setInterval(() => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    taken.push((user + system) / 1000);
  }, everyMs);
  timer.unref();
  return {
    slowness: () => slownessOf(taken),
    stop: () => clearInterval(timer),
  };
}

/** @param taken milliseconds of processor time, one per measurement */
export function slownessOf(taken: readonly number[]): number {
  const sorted = taken.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length * 0.75)] ?? quietMs;
  return Math.min(slowest, Math.max(1, upper / quietMs));
}

const sample = Array.from({ length: 400 }, (_, n) => ({ id: `run_${n}`, seq: n, args: { path: `lib/${n}.ts` } }));

/** Parses, writes and hashes JSON: what the programs of Holdpoint do most. */
function work(): string {
  let digest = '';
  for (let round = 0; round < 80; round++) {
    const text = JSON.stringify(JSON.parse(JSON.stringify(sample)));
    digest = createHash('sha256').update(text).update(digest).digest('hex');
  }
  return digest;
}
