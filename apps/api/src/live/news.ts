import { runOfChannel } from '@holdpoint/engine';
import type { Redis } from 'ioredis';

/** Hears on one channel, or on all that fit a pattern, from the moment it is there until it is closed. */
export interface Ear {
  /**
   * The runs of which there was news since the last call; waits when there was none. Empty after `timeoutMs` without news, and when
   * the signal is aborted.
   */
  next(options: { timeoutMs: number; signal: AbortSignal }): Promise<ReadonlySet<string>>;
  close(): void;
}

/**
 * Shares one connection among all who wait for news of runs. News says that there is something to read in a log, and may be lost when
 * the connection is: after it came back, everybody is told to look.
 */
export class News {
  readonly #redis: Redis;
  readonly #channels = new Map<string, Set<Hearing>>();
  readonly #patterns = new Map<string, Set<Hearing>>();

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on('message', (channel) => tell(this.#channels.get(channel), runOfChannel(channel)));
    redis.on('pmessage', (pattern, channel) => tell(this.#patterns.get(pattern), runOfChannel(channel)));
    redis.on('ready', () => void this.#lookAgain());
  }

  /** Resolves when the subscription is active: what is appended from then on is heard. */
  async listen(channel: string): Promise<Ear> {
    const ear = add(this.#channels, channel, () => void this.#redis.unsubscribe(channel).catch(connectionLost));
    return inForce(ear, this.#redis.subscribe(channel));
  }

  async listenToAll(pattern: string): Promise<Ear> {
    const ear = add(this.#patterns, pattern, () => void this.#redis.punsubscribe(pattern).catch(connectionLost));
    return inForce(ear, this.#redis.psubscribe(pattern));
  }

  /** ioredis subscribes again by itself, but after 'ready'; ours is answered when it is in force. */
  async #lookAgain(): Promise<void> {
    const channels = [...this.#channels.keys()];
    if (channels.length === 0) return;
    await this.#redis.subscribe(...channels).catch(connectionLost);
    for (const channel of channels) tell(this.#channels.get(channel), runOfChannel(channel));
  }
}

class Hearing implements Ear {
  readonly #leave: (hearing: Hearing) => void;
  #heard = new Set<string>();
  #wake = (): void => {};

  constructor(leave: (hearing: Hearing) => void) {
    this.#leave = leave;
  }

  hear(runId: string): void {
    this.#heard.add(runId);
    this.#wake();
  }

  async next({ timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<ReadonlySet<string>> {
    if (this.#heard.size === 0 && !signal.aborted) await this.#news(timeoutMs, signal);
    const heard = this.#heard;
    this.#heard = new Set();
    return heard;
  }

  #news(timeoutMs: number, signal: AbortSignal): Promise<void> {
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
    this.#leave(this);
  }
}

function add(all: Map<string, Set<Hearing>>, name: string, unsubscribe: () => void): Hearing {
  const hearings = all.get(name) ?? new Set();
  all.set(name, hearings);
  const hearing = new Hearing((one) => {
    if (!hearings.delete(one) || hearings.size > 0) return;
    all.delete(name);
    unsubscribe();
  });
  hearings.add(hearing);
  return hearing;
}

async function inForce(ear: Hearing, subscribed: Promise<unknown>): Promise<Ear> {
  try {
    await subscribed;
    return ear;
  } catch (error) {
    ear.close();
    throw error;
  }
}

function tell(hearings: ReadonlySet<Hearing> | undefined, runId: string): void {
  for (const hearing of hearings ?? []) hearing.hear(runId);
}

// The connection reports its own errors, and comes back with what is subscribed then.
const connectionLost = (): void => {};
