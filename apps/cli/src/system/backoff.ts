const firstMs = 250;
const longestMs = 60_000;
/** A process that lived so long had started well. */
const steadyMs = 60_000;

/** How long to wait before a process is started again that ended by itself: each time twice as long, until one lives for a minute. */
export class Backoff {
  #times = 0;

  /** @returns how often in a row it ended, and the pause before the next start */
  ended(livedMs: number): { times: number; pauseMs: number } {
    this.#times = livedMs >= steadyMs ? 1 : this.#times + 1;
    return { times: this.#times, pauseMs: Math.min(firstMs * 2 ** (this.#times - 1), longestMs) };
  }
}
