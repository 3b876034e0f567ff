import * as contract from '@holdpoint/contract';
import { liveChannel, liveJoinChannel, runOfKey } from '@holdpoint/engine';
import type { Redis } from 'ioredis';

/** The live text of a run's jobs for a reader: from the oldest kept piece on. */
export interface LiveReader {
  /** The pieces new to the reader. */
  take(): contract.LiveFrame[];
  close(): void;
}

interface Deps {
  subscriber: Redis;
  redis: Pick<Redis, 'publish'>;
  now: () => number;
}

/** Workers publish for a run for 30 s after each of these. */
const askEveryMs = 10_000;
/** Drops a text after this silence of its worker: the worker is gone. */
const silentMs = 25_000;
/** After a lost piece. */
const askAgainMs = 1000;

/**
 * Asks the workers for the live text of a run while the run has a reader, and keeps the text for later readers. The text is in memory
 * alone, shared by all readers of a run in this process: a slow reader gets larger pieces.
 */
export class LiveStreams {
  readonly #deps: Deps;
  readonly #runs = new Map<string, LiveRun>();

  constructor(deps: Deps) {
    this.#deps = deps;
    const { subscriber } = deps;
    const askAll = (): void => {
      for (const run of this.#runs.values()) run.askForAll();
    };
    subscriber.on('message', (channel, text) => {
      if (channel === liveJoinChannel && 'begun' in contract.liveJoinSchema.parse(JSON.parse(text))) askAll();
      else if (this.#runs.size > 0 && channel.endsWith(':live')) this.#runs.get(runOfKey(channel))?.receive(text);
    });
    // Asks for text published during the loss of the connection.
    subscriber.on('ready', askAll);
  }

  /** @param wake called when there is something to take */
  async join(runId: string, wake: () => void): Promise<LiveReader> {
    const known = this.#runs.get(runId);
    const run = known ?? new LiveRun(this.#deps, runId);
    this.#runs.set(runId, run);
    const reader = run.add(wake, () => {
      this.#runs.delete(runId);
      void this.#deps.subscriber.unsubscribe(liveChannel(runId)).catch(connectionLost);
    });
    if (known === undefined) {
      await this.#deps.subscriber.subscribe(liveJoinChannel, liveChannel(runId)).catch(connectionLost);
      run.askForAll();
    }
    return reader;
  }
}

class LiveRun {
  readonly #deps: Deps;
  readonly #runId: string;
  readonly #texts = new Map<string, Text>();
  readonly #wakes = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #askedAt = Number.NEGATIVE_INFINITY;
  #lost: NodeJS.Timeout | undefined;

  constructor(deps: Deps, runId: string) {
    this.#deps = deps;
    this.#runId = runId;
    this.#timer = setInterval(() => this.#askOn(), askEveryMs).unref();
  }

  add(wake: () => void, onLast: () => void): LiveReader {
    this.#wakes.add(wake);
    const read = new WeakMap<Text, number>();
    return {
      take: () => [...this.#texts.values()].flatMap((text) => text.after(read)),
      close: () => {
        if (!this.#wakes.delete(wake) || this.#wakes.size > 0) return;
        clearInterval(this.#timer);
        clearTimeout(this.#lost);
        onLast();
      },
    };
  }

  /** Not before the last request can have been answered. */
  #askSoon(): void {
    const wait = Math.max(0, this.#askedAt + askAgainMs - this.#deps.now());
    this.#lost ??= setTimeout(() => this.askForAll(), wait).unref();
  }

  askForAll(): void {
    clearTimeout(this.#lost);
    this.#lost = undefined;
    this.#askedAt = this.#deps.now();
    this.#publish({ run_id: this.#runId, fresh: true });
  }

  /** Makes workers keep publishing, and drops texts of lost workers. */
  #askOn(): void {
    const { now } = this.#deps;
    for (const [key, text] of this.#texts) if (now() - text.heardAt > silentMs) this.#texts.delete(key);
    this.#publish({ run_id: this.#runId });
  }

  #publish(join: object): void {
    this.#deps.redis.publish(liveJoinChannel, JSON.stringify(join)).catch(connectionLost);
  }

  receive(message: string): void {
    const { whole = false, frames } = contract.liveMessageSchema.parse(JSON.parse(message));
    const lost = frames.filter((frame) => !this.#add(frame, whole));
    if (lost.length > 0) this.#askSoon();
    if (lost.length < frames.length) for (const wake of this.#wakes) wake();
  }

  /** @returns false when an earlier piece is missing */
  #add(frame: contract.LiveFrame, whole: boolean): boolean {
    const key = contract.liveKey(frame);
    const known = this.#texts.get(key);
    const heardAt = this.#deps.now();
    if (known !== undefined && known.about.since === frame.since) return known.add(frame, { whole, heardAt });
    // A text with its end before its first piece here is in the log by now.
    if (frame.ended === true && frame.text === '') return true;
    if (!whole && !frame.cut && frame.offset > 0) return false;
    this.#texts.set(key, new Text(frame, heardAt));
    return true;
  }
}

/** The kept part of a text. */
class Text {
  readonly about: contract.LiveSource;
  heardAt: number;
  #from: number;
  #text: string;
  #ended: boolean;

  constructor({ offset, text, cut: _, ended, ...about }: contract.LiveFrame, heardAt: number) {
    this.about = about;
    this.heardAt = heardAt;
    this.#from = offset;
    this.#text = text;
    this.#ended = ended === true;
  }

  get #end(): number {
    return this.#from + this.#text.length;
  }

  add(
    { offset, text, cut, ended }: contract.LiveFrame,
    { whole, heardAt }: { whole: boolean; heardAt: number },
  ): boolean {
    this.heardAt = heardAt;
    if (offset > this.#end) {
      if (!whole && !cut) return false;
      this.#from = offset;
      this.#text = text;
    } else {
      const kept = contract.keepEnd(this.#text + text.slice(this.#end - offset));
      this.#from += this.#text.length + Math.max(0, text.length - (this.#end - offset)) - kept.length;
      this.#text = kept;
    }
    this.#ended ||= ended === true;
    return true;
  }

  /** The pieces behind the reader's place; and once, the end. */
  after(read: WeakMap<Text, number>): contract.LiveFrame[] {
    const at = read.get(this);
    if (at === Number.POSITIVE_INFINITY) return [];
    // A reader after the end finds the text in the log.
    if (this.#ended && at === undefined) return [];
    if (at !== undefined && at >= this.#end && !this.#ended) return [];
    const offset = Math.max(at ?? 0, this.#from);
    read.set(this, this.#ended ? Number.POSITIVE_INFINITY : this.#end);
    const frame: contract.LiveFrame = { ...this.about, offset, text: this.#text.slice(offset - this.#from) };
    return [this.#ended ? { ...frame, ended: true } : frame];
  }
}

// A lost connection costs readers of live text nothing of the log.
const connectionLost = (): void => {};
