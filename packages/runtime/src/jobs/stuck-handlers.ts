import { setTimeout as wait } from 'node:timers/promises';
import { type AbortReason, abortReason } from '@holdpoint/engine/worker';

/** An aborted handler has a sandbox or a request to end, which takes milliseconds. */
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

/** How many stuck handlers of a queue a worker bears: they hold memory, and what they wait for may be broken for all that follow. */
export const mostStuck = (slots: number): number => Math.max(2, Math.ceil(slots / 4));

/** Handlers of one queue that ignored their abort and have not returned yet. */
export class StuckHandlers {
  readonly #onStuck: (count: number) => void;
  readonly #patience: typeof patience;
  #count = 0;

  /** @param onStuck called with the number of stuck handlers when there is another one */
  constructor(onStuck: (count: number) => void = () => {}, given: typeof patience = patience) {
    this.#onStuck = onStuck;
    this.#patience = given;
  }

  /** Handlers that hold no place any more and have not returned. */
  get count(): number {
    return this.#count;
  }

  /**
   * Settles as `work` does.
   * @throws HandlerStuck when `work` is still under way 10 s after the abort. The log fences what the handler writes later, as that of a worker
   * that was frozen
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

  /** Ticks rather than one timer: an event loop that stood still for long gives handlers its next turns first. */
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
