import { runOfChannel } from '@holdpoint/engine';
import type { Redis } from 'ioredis';

/** Receives the notifications of one channel, or of all channels that fit a pattern, until it is closed. */
export interface Subscription {
  /** Ids of the runs notified since the last call; waits for one. Empty after `timeoutMs`, and when the signal is aborted. */
  next(options: { timeoutMs: number; signal: AbortSignal }): Promise<ReadonlySet<string>>;
  /** Ends the wait: `next` returns this name among the ids. */
  notify(name: string): void;
  close(): void;
}

/**
 * Shares one connection among all requests that wait for a run. A notification says that a log has something to read. Notifications are
 * lost together with the connection, so every subscription of a channel is notified after a reconnect.
 */
export class RunNotifications {
  readonly #redis: Redis;
  readonly #channels: Subscribers = new Map();
  readonly #patterns: Subscribers = new Map();

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on('message', (channel) => notify(this.#channels.get(channel), runOfChannel(channel)));
    redis.on('pmessage', (pattern, channel) => notify(this.#patterns.get(pattern), runOfChannel(channel)));
    redis.on('ready', () => void this.#notifyAll());
  }

  /** Resolves when Redis has confirmed: the subscription receives every later append. */
  async subscribe(channel: string): Promise<Subscription> {
    const unsubscribe = () => void this.#redis.unsubscribe(channel).catch(connectionLost);
    return confirmed(add(this.#channels, channel, unsubscribe), this.#redis.subscribe(channel));
  }

  async subscribeToAll(pattern: string): Promise<Subscription> {
    const unsubscribe = () => void this.#redis.punsubscribe(pattern).catch(connectionLost);
    return confirmed(add(this.#patterns, pattern, unsubscribe), this.#redis.psubscribe(pattern));
  }

  /** ioredis also subscribes again, but after 'ready' and without a confirmation that this class could wait for. */
  async #notifyAll(): Promise<void> {
    const channels = [...this.#channels.keys()];
    if (channels.length === 0) return;
    await this.#redis.subscribe(...channels).catch(connectionLost);
    for (const channel of channels) notify(this.#channels.get(channel), runOfChannel(channel));
  }
}

type Subscribers = Map<string, Set<Subscriber>>;

class Subscriber implements Subscription {
  readonly #remove: (subscriber: Subscriber) => void;
  #notified = new Set<string>();
  #wake = (): void => {};

  constructor(remove: (subscriber: Subscriber) => void) {
    this.#remove = remove;
  }

  notify(runId: string): void {
    this.#notified.add(runId);
    this.#wake();
  }

  async next({ timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<ReadonlySet<string>> {
    if (this.#notified.size === 0 && !signal.aborted) await this.#wait(timeoutMs, signal);
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

function add(all: Subscribers, name: string, unsubscribe: () => void): Subscriber {
  const subscribers = all.get(name) ?? new Set();
  all.set(name, subscribers);
  const subscriber = new Subscriber((one) => {
    if (!subscribers.delete(one) || subscribers.size > 0) return;
    all.delete(name);
    unsubscribe();
  });
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

// The connection reports its own errors and subscribes again when it is back.
const connectionLost = (): void => {};
