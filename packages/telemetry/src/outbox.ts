interface Options<Item> {
  /** Capacity of the queue, in items. */
  size: number;
  /** Items of a batch. */
  batch: number;
  /** Milliseconds of a smaller batch's wait for more items. */
  delayMs: number;
  /** Sends a batch. Never rejects. */
  send(items: readonly Item[]): Promise<void>;
  /** Called for each item without a place. */
  onFull(): void;
}

/**
 * Items before their sending: a queue of bounded length, and a single batch on its way. The SDK's batch processors drop silently when they
 * are full.
 */
export class Outbox<Item> {
  readonly #options: Options<Item>;
  #waiting: Item[] = [];
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options<Item>) {
    this.#options = options;
  }

  put(item: Item): void {
    const { size, onFull } = this.#options;
    if (this.#waiting.length < size) {
      this.#waiting.push(item);
      this.#sendLater();
    } else onFull();
  }

  /** Resolves when nothing waits any more. */
  async flush(): Promise<void> {
    while (this.#sending !== undefined || this.#waiting.length > 0) await (this.#sending ?? this.#send());
  }

  #sendLater(): void {
    const { batch, delayMs } = this.#options;
    if (this.#sending !== undefined || this.#waiting.length === 0) return;
    if (this.#waiting.length >= batch) void this.#send();
    else this.#timer ??= setTimeout(() => void this.#send(), delayMs).unref();
  }

  async #send(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#options.send(this.#waiting.splice(0, this.#options.batch));
    await this.#sending;
    this.#sending = undefined;
    this.#sendLater();
  }
}
