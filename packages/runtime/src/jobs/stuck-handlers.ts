import { setTimeout as wait } from 'node:timers/promises';
import { type AbortReason, abortReason } from '@holdpoint/engine/worker';

/** An aborted handler has to end a sandbox or a request: both take milliseconds. */
const patience = { ticks: 10, tickMs: 1000 };

/** A handler was aborted and did not return in time. Its place is given back, while the handler may still wait for something. */
export class HandlerStuck extends Error {
  override readonly name = 'HandlerStuck';
  readonly reason: AbortReason | undefined;

  constructor(reason: AbortReason | undefined) {
    super(`the handler did not return after its abort (${reason})`);
    this.reason = reason;
  }
}

/**
 * With this many stuck handlers of a queue a worker is unusable: they hold memory, and the cause of their waiting may block later handlers
 * too.
 */
export const mostStuck = (slots: number): number => Math.max(2, Math.ceil(slots / 4));

/** Handlers of a queue, still running although aborted. */
export class StuckHandlers {
  readonly #onStuck: (count: number) => void;
  readonly #patience: typeof patience;
  #count = 0;

  /** @param onStuck called for each newly stuck handler, with the number of stuck handlers */
  constructor(onStuck: (count: number) => void = () => {}, given: typeof patience = patience) {
    this.#onStuck = onStuck;
    this.#patience = given;
  }

  /** Number of stuck handlers: without a slot, but still running. */
  get count(): number {
    return this.#count;
  }

  /**
   * Settles as `work` does.
   * @throws HandlerStuck when `work` is still under way 10 s after the abort. The log fences later writes of the handler, like those of a
   * frozen worker
   */
  async settle<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const done = new AbortController();
    try {
      return await Promise.race([work, this.#untilStuck(signal, done.signal)]);
    } catch (error) {
      if (error instanceof HandlerStuck) this.#watch(work);
      throw error;
    } finally {
      done.abort();
    }
  }

  #untilStuck(signal: AbortSignal, done: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const begin = (): void => {
        this.#tick(done).then(
          () => reject(new HandlerStuck(abortReason(signal))),
          () => {},
        );
      };
      if (signal.aborted) begin();
      else signal.addEventListener('abort', begin, { once: true, signal: done });
    });
  }

  /** Ticks rather than a single timer: after a long standstill, the event loop gives its next turns to handlers first. */
  async #tick(done: AbortSignal): Promise<void> {
    for (let tick = 0; tick < this.#patience.ticks; tick++) {
      await wait(this.#patience.tickMs, undefined, { signal: done, ref: false });
    }
  }

  #watch(work: Promise<unknown>): void {
    this.#count += 1;
    const returned = (): void => {
      this.#count -= 1;
    };
    work.then(returned, returned);
    this.#onStuck(this.#count);
  }
}
