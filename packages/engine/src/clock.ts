/** The clocks of this process. Passed in, so that a test can make one of them jump. */
interface Sources {
  /** Milliseconds since the epoch; may jump. */
  wall: () => number;
  /** Milliseconds since some moment; only goes forward, but stands still while the machine sleeps. */
  steady: () => number;
}

const sources: Sources = { wall: Date.now, steady: () => performance.now() };

/** How long a wall clock has to stay changed before it is believed. */
const believeAfterMs = 30_000;
/** Two readings of the difference that lie closer together than this are of the same setting of the wall clock. */
const sameMs = 1000;

/**
 * The time of day, from a clock that only goes forward: a wall clock that jumps and is corrected within half a minute changes nothing. One
 * that stays changed (the machine slept, or its clock was set right) is believed.
 *
 * @returns milliseconds since the epoch
 */
export function openClock({ wall, steady }: Sources = sources): () => number {
  let offset = wall() - steady();
  let candidate: { offset: number; since: number } | undefined;
  return () => {
    const now = steady();
    const seen = wall() - now;
    if (Math.abs(seen - offset) < sameMs) {
      candidate = undefined;
      // The slow corrections of a time service.
      offset = seen > offset ? seen : Math.max(seen, offset - 1);
    } else if (candidate === undefined || Math.abs(seen - candidate.offset) > sameMs) {
      candidate = { offset: seen, since: now };
    } else if (now - candidate.since >= believeAfterMs) {
      offset = seen;
      candidate = undefined;
    }
    return Math.floor(now + offset);
  };
}
