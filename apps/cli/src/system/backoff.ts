const firstMs = 250;
const maxMs = 60_000;
/** A process with a life this long had started well. */
const steadyMs = 60_000;

/** The pause before the restart of an ended process: doubled each time, until a process lives for a minute. */
export class Backoff {
  #times = 0;

  /** @returns the number of ends in a row, and the pause before the next start */
  ended(livedMs: number): { times: number; pauseMs: number } {
    this.#times = livedMs >= steadyMs ? 1 : this.#times + 1;
    return { times: this.#times, pauseMs: Math.min(firstMs * 2 ** (this.#times - 1), maxMs) };
  }
}
