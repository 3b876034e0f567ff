import type { Caller } from '@holdpoint/contract';
import { presenceMs, type Presence as Shown } from '@holdpoint/contract/wire';
import type { Redis } from 'ioredis';
import { z } from 'zod';

const channel = 'hp:presence';
/** Pages of one key that count at the same time. */
const mostPages = 20;

const messageSchema = z.strictObject({
  tenant: z.string(),
  approval_id: z.string(),
  key_id: z.string(),
  page: z.string(),
  name: z.string(),
  kind: z.enum(['person', 'service', 'agent']),
  /** Undefined: the page was left. */
  until: z.number().optional(),
});
type Message = z.infer<typeof messageSchema>;

type Seen = Required<Message> & { since: number };

interface Deps {
  subscriber: Redis;
  redis: Pick<Redis, 'publish'>;
  now: () => number;
}

/** A sign of a page, or its leave. */
export interface Sign {
  caller: Caller;
  keyId: string;
  approvalId: string;
  page: string;
}

/**
 * Who is looking at which approval now. Pages give a sign every few seconds, and every API process hears it by a channel of Redis: who is
 * there is in the memory of the processes alone, ends with the last sign, and is stored nowhere.
 */
export class Presence {
  readonly #deps: Deps;
  readonly #seen = new Map<string, Seen>();
  readonly #listeners = new Set<(tenant: string, approvalId: string) => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.subscriber.on('message', (from, text) => {
      if (from === channel) this.#take(messageSchema.parse(JSON.parse(text)));
    });
    void deps.subscriber.subscribe(channel).catch(connectionLost);
  }

  look = (sign: Sign): Promise<unknown> => this.#publish(sign, this.#deps.now() + presenceMs);

  leave = (sign: Sign): Promise<unknown> => this.#publish(sign, undefined);

  #publish({ caller: { tenant, name, kind }, keyId, approvalId, page }: Sign, until: number | undefined) {
    const message: Message = { tenant, name, kind, key_id: keyId, approval_id: approvalId, page, until };
    return this.#deps.redis.publish(channel, JSON.stringify(message));
  }

  /** Approvals of the tenant with viewers. */
  list(tenant: string): Shown[] {
    const ids = new Set([...this.#seen.values()].filter((one) => one.tenant === tenant).map((one) => one.approval_id));
    return [...ids].map((id) => this.of(tenant, id));
  }

  /** Several pages of a caller count as one viewer. */
  of(tenant: string, approvalId: string): Shown {
    const viewers = new Map<string, Shown['viewers'][number]>();
    for (const { name, kind, since, until, ...one } of this.#seen.values()) {
      if (one.tenant !== tenant || one.approval_id !== approvalId) continue;
      const known = viewers.get(name);
      const [from, to] = [iso(since), iso(until)];
      viewers.set(name, {
        ...{ name, kind, since: known && known.since < from ? known.since : from },
        until: known && known.until > to ? known.until : to,
      });
    }
    return { approval_id: approvalId, viewers: [...viewers.values()] };
  }

  /** @param onChange called when a viewer comes or leaves, not for each sign */
  listen(onChange: (tenant: string, approvalId: string) => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  #take({ until, ...message }: Message): void {
    const key = `${message.key_id} ${message.page} ${message.approval_id}`;
    const known = this.#seen.get(key);
    if (until === undefined) {
      if (this.#seen.delete(key)) this.#report(message);
      return;
    }
    // Written again at its end: the pages of a key stand in the order of their last sign.
    this.#seen.delete(key);
    this.#seen.set(key, { ...message, until, since: known?.since ?? this.#deps.now() });
    const pages = [...this.#seen].filter(([, one]) => one.key_id === message.key_id);
    for (const [oldest, one] of pages.slice(0, Math.max(0, pages.length - mostPages))) {
      this.#seen.delete(oldest);
      this.#report(one);
    }
    if (known === undefined) this.#report(message);
    this.#sweepLater();
  }

  #report({ tenant, approval_id }: Pick<Message, 'tenant' | 'approval_id'>): void {
    for (const listener of this.#listeners) listener(tenant, approval_id);
  }

  /** The single timer waits for the page whose last sign ends first. */
  #sweepLater(): void {
    if (this.#timer !== undefined || this.#seen.size === 0) return;
    const first = Math.min(...[...this.#seen.values()].map(({ until }) => until));
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#sweep();
        this.#sweepLater();
      },
      Math.max(100, first - this.#deps.now()),
    ).unref();
  }

  #sweep(): void {
    for (const [key, one] of this.#seen) {
      if (one.until > this.#deps.now()) continue;
      this.#seen.delete(key);
      this.#report(one);
    }
  }
}

const iso = (ms: number): string => new Date(ms).toISOString();

// The next sign is a few seconds away, and ioredis subscribes again after a reconnect.
const connectionLost = (): void => {};
