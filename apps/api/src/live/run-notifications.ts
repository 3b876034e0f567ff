import { runOfKey } from '@holdpoint/engine';
import type { Redis } from 'ioredis';

/** Receives the notifications of a channel, or of all channels of a pattern, until closed. */
export interface Subscription {
  /** Ids of the runs notified since the last call; waits for at least one. Empty after `timeoutMs`, and when the signal is aborted. */
  next(options: { timeoutMs: number; signal: AbortSignal }): Promise<ReadonlySet<string>>;
  /** Ends the wait: `next` returns this name among the ids. */
  notify(name: string): void;
  /**
   * For a pattern: since when notifications may have been lost with the connection, milliseconds since the epoch; undefined after a call.
   * `next` returns immediately while such a time is set.
   */
  takeLoss(): number | undefined;
  /** For a pattern: whether every announced notification has arrived. */
  isIntact(): boolean;
  close(): void;
}

/**
 * Shares a connection among all requests in wait for a run. A notification announces new entries in a log. Notifications are lost together
 * with the connection, so after a reconnect every subscription of a channel is notified, and every subscription of a pattern has a loss.
 */
export class RunNotifications {
  readonly #redis: Redis;
  readonly #channels: Subscribers = new Map();
  readonly #patterns: Subscribers = new Map();

  readonly #now: () => number;

  constructor(redis: Redis, now = Date.now) {
    this.#redis = redis;
    this.#now = now;
    redis.on('message', (channel) => notify(this.#channels.get(channel), runOfKey(channel)));
    redis.on('pmessage', (pattern, channel) => {
      for (const one of this.#patterns.get(pattern) ?? []) one.notify(runOfKey(channel), now());
    });
    redis.on('close', () => {
      for (const one of this.#ofPatterns()) one.leave();
    });
    redis.on('ready', () => void this.#notifyAll());
  }

  /** Resolves when Redis has confirmed: the subscription receives every later append. */
  async subscribe(channel: string): Promise<Subscription> {
    const unsubscribe = () => void this.#redis.unsubscribe(channel).catch(connectionLost);
    return confirmed(add(this.#channels, channel, unsubscribe), this.#redis.subscribe(channel));
  }

  async subscribeToAll(pattern: string): Promise<Subscription> {
    const unsubscribe = () => void this.#redis.punsubscribe(pattern).catch(connectionLost);
    return confirmed(add(this.#patterns, pattern, unsubscribe, this.#now()), this.#redis.psubscribe(pattern));
  }

  /** ioredis also subscribes again, but after 'ready' and without a confirmation for this class. */
  async #notifyAll(): Promise<void> {
    const [channels, patterns] = [[...this.#channels.keys()], [...this.#patterns.keys()]];
    if (channels.length > 0) await this.#redis.subscribe(...channels).catch(connectionLost);
    for (const channel of channels) notify(this.#channels.get(channel), runOfKey(channel));
    if (patterns.length > 0) await this.#redis.psubscribe(...patterns).catch(connectionLost);
    for (const one of this.#ofPatterns()) one.resume();
  }

  #ofPatterns(): Subscriber[] {
    return [...this.#patterns.values()].flatMap((subscribers) => [...subscribers]);
  }
}

type Subscribers = Map<string, Set<Subscriber>>;

class Subscriber implements Subscription {
  readonly #remove: (subscriber: Subscriber) => void;
  #notified = new Set<string>();
  /** The time of the last notification, or of the beginning. */
  #lastAt: number;
  /** Set while the connection is away. */
  #awaySince: number | undefined;
  #lostSince: number | undefined;
  #wake = (): void => {};

  constructor(remove: (subscriber: Subscriber) => void, now: number) {
    this.#remove = remove;
    this.#lastAt = now;
  }

  notify(runId: string, at = this.#lastAt): void {
    this.#notified.add(runId);
    this.#lastAt = at;
    this.#wake();
  }

  /** The connection is lost. Messages after the last notification may be lost with the connection. */
  leave(): void {
    this.#awaySince ??= this.#lastAt;
  }

  /** The connection is back. */
  resume(): void {
    this.#lostSince ??= this.#awaySince;
    this.#awaySince = undefined;
    this.#wake();
  }

  isIntact(): boolean {
    return this.#awaySince === undefined && this.#lostSince === undefined;
  }

  takeLoss(): number | undefined {
    const lost = this.#lostSince;
    this.#lostSince = undefined;
    return lost;
  }

  async next({ timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<ReadonlySet<string>> {
    const hasNews = this.#notified.size > 0 || this.#lostSince !== undefined;
    if (!hasNews && !signal.aborted) await this.#wait(timeoutMs, signal);
    const notified = this.#notified;
    this.#notified = new Set();
    return notified;
  }

  #wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }

  close(): void {
    this.#remove(this);
  }
}

function add(all: Subscribers, name: string, unsubscribe: () => void, now = 0): Subscriber {
  const subscribers = all.get(name) ?? new Set();
  all.set(name, subscribers);
  const subscriber = new Subscriber((one) => {
    if (!subscribers.delete(one) || subscribers.size > 0) return;
    all.delete(name);
    unsubscribe();
  }, now);
  subscribers.add(subscriber);
  return subscriber;
}

async function confirmed(subscriber: Subscriber, subscribed: Promise<unknown>): Promise<Subscription> {
  try {
    await subscribed;
    return subscriber;
  } catch (error) {
    subscriber.close();
    throw error;
  }
}

function notify(subscribers: ReadonlySet<Subscriber> | undefined, runId: string): void {
  for (const subscriber of subscribers ?? []) subscriber.notify(runId);
}

// The connection reports its own errors and subscribes again after a reconnect.
const connectionLost = (): void => {};
