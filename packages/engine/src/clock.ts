/** The clocks of this process. A parameter, so that a test can let a clock jump. */
interface Sources {
  /** Milliseconds since the epoch; may jump. */
  wall: () => number;
  /** Milliseconds since some moment. Monotonic, but stands still while the machine sleeps. */
  monotonic: () => number;
}

const sources: Sources = { wall: Date.now, monotonic: () => performance.now() };

/** How long a wall clock has to stay changed before the change is trusted. */
const trustAfterMs = 30_000;
/** Two offsets closer than this belong to the same setting of the wall clock. */
const toleranceMs = 1000;

/**
 * The time of day, from a monotonic clock. A wall clock that jumps and is corrected within half a minute changes nothing. A wall clock that
 * stays changed (the machine slept, or its clock was corrected) is trusted.
 *
 * @returns milliseconds since the epoch
 */
export function openClock({ wall, monotonic }: Sources = sources): () => number {
  let offset = wall() - monotonic();
  let candidate: { offset: number; since: number } | undefined;
  return () => {
    const now = monotonic();
    const seen = wall() - now;
    if (Math.abs(seen - offset) < toleranceMs) {
      candidate = undefined;
      // The slow corrections of a time service, at most 1 ms per call backwards.
      offset = seen > offset ? seen : Math.max(seen, offset - 1);
    } else if (candidate === undefined || Math.abs(seen - candidate.offset) > toleranceMs) {
      candidate = { offset: seen, since: now };
    } else if (now - candidate.since >= trustAfterMs) {
      offset = seen;
      candidate = undefined;
    }
    return Math.floor(now + offset);
  };
}
