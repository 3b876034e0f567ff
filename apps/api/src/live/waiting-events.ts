/** Events of 32 KiB at most: about 64 MiB of text, and as much again while they are objects. */
const mostWaiting = 2000;
/** A stream alone reads this many at once. */
const largestPage = 50;
/** A stream takes this part of what is left, so that many slow readers share it. */
const share = 8;

/** Counts the events that wait for readers, over the streams of all keys: however many of them are slow, the memory that they take has a bound. */
export class WaitingEvents {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number of events that a stream may read now: at least one, so no stream stands still. */
  pageSize(): number {
    return Math.min(largestPage, Math.max(1, Math.floor((mostWaiting - this.#count) / share)));
  }

  /** Gives each item in turn. What its reader has not taken counts until the reader takes it or leaves. */
  async *each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
    let left = items.length;
    this.#count += left;
    try {
      for (const item of items) {
        yield item;
        left -= 1;
        this.#count -= 1;
      }
    } finally {
      this.#count -= left;
    }
  }
}

/** The count of this process. */
export const waitingEvents = new WaitingEvents();
