import { StringDecoder } from 'node:string_decoder';
import { keepEnd, type LiveFrame, type LiveMessage, type LiveSource, liveJoinSchema } from '@holdpoint/contract';
import { liveChannel, liveJoinChannel } from '@holdpoint/engine/worker';
import type { ModelDelta } from '@holdpoint/models';
import type { Redactor } from '@holdpoint/secrets';
import type { Redis } from 'ioredis';

/** Receives a live text piece by piece. */
export interface LiveText {
  write(text: string): void;
  end(): void;
}

export interface Live {
  /** @param about the source of the text; the hub adds the present time as `since` */
  open(runId: string, about: Omit<LiveSource, 'since'>): LiveText;
}

interface Deps {
  workerId: string;
  redis: Pick<Redis, 'publish'>;
  subscriber: Pick<Redis, 'on' | 'off' | 'subscribe'>;
  now: () => number;
  logger: { debug(about: object, text: string): void };
}

/** Pieces are collected for so long: a person sees no difference, and a stream of tokens costs at most 50 messages a second. */
const collectMs = 20;
/** Readers ask again every ten seconds. */
const listenedMs = 30_000;

/**
 * Live texts of the running jobs of this process. The hub keeps the texts in memory and publishes them while the run has a reader: without
 * readers they cost no command of Redis. The log does not have live texts, so they are lost with this process.
 */
export async function openLiveHub(deps: Deps): Promise<Live & { stop(): void }> {
  const { workerId, redis, subscriber, now, logger } = deps;
  const runs = new Map<string, RunTexts>();
  /** Until when a run has a reader, by run id. The texts of a run may begin after the reader. */
  const listened = new Map<string, number>();

  const isListened = (runId: string): boolean => (listened.get(runId) ?? 0) > now();
  const publish = (runId: string, message: LiveMessage): void => {
    if (message.frames.length === 0) return;
    redis.publish(liveChannel(runId), JSON.stringify(message)).catch((error: unknown) => {
      // A reader sees the gap, and asks for the whole text.
      logger.debug({ run_id: runId, err: error }, 'live text was not published');
    });
  };

  const onMessage = (channel: string, text: string): void => {
    if (channel !== liveJoinChannel) return;
    const join = liveJoinSchema.safeParse(JSON.parse(text));
    if (!join.success || 'begun' in join.data) return;
    const { run_id, fresh } = join.data;
    const isNew = fresh || !isListened(run_id);
    for (const [id, until] of listened) if (until <= now()) listened.delete(id);
    listened.set(run_id, now() + listenedMs);
    const texts = runs.get(run_id);
    if (texts === undefined) return;
    // An empty piece means: the text is not finished.
    publish(run_id, isNew ? { whole: true, frames: texts.whole() } : { frames: texts.still() });
  };
  subscriber.on('message', onMessage);
  await subscriber.subscribe(liveJoinChannel);
  await redis.publish(liveJoinChannel, JSON.stringify({ begun: workerId }));

  return {
    open(runId, about) {
      const texts = runs.get(runId) ?? new RunTexts((frames) => isListened(runId) && publish(runId, { frames }));
      runs.set(runId, texts);
      return texts.open({ ...about, since: new Date(now()).toISOString() }, () => {
        if (texts.size === 0) runs.delete(runId);
      });
    },
    stop: () => void subscriber.off('message', onMessage),
  };
}

/** The unfinished texts of a run. */
class RunTexts {
  readonly #texts = new Set<Kept>();
  readonly #send: (frames: LiveFrame[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(send: (frames: LiveFrame[]) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#texts.size;
  }

  open(about: LiveSource, onEnd: () => void): LiveText {
    const text = new Kept(about);
    this.#texts.add(text);
    this.#soon();
    return {
      write: (more) => {
        text.write(more);
        this.#soon();
      },
      end: () => {
        if (!this.#texts.delete(text)) return;
        this.#flush([{ ...text.unsent(), ended: true }]);
        onEnd();
      },
    };
  }

  whole = (): LiveFrame[] => [...this.#texts].map((text) => text.whole());
  still = (): LiveFrame[] => [...this.#texts].map((text) => text.unsent());

  /** Sends at once after a quiet time; otherwise `collectMs` after the last message, with all pieces until then. */
  #soon(): void {
    const wait = this.#sentAt + collectMs - performance.now();
    this.#timer ??= setTimeout(() => this.#flush(), Math.max(0, wait)).unref();
  }

  #flush(last: LiveFrame[] = []): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sentAt = performance.now();
    this.#send([...[...this.#texts].flatMap((text) => (text.isNews ? [text.unsent()] : [])), ...last]);
  }
}

/** The kept end of a text, and the offset sent so far. */
class Kept {
  readonly #about: LiveSource;
  #text = '';
  /** Where `#text` begins. */
  #from = 0;
  /** Undefined: not even the beginning of the text was announced. */
  #sent: number | undefined;

  constructor(about: LiveSource) {
    this.#about = about;
  }

  get isNews(): boolean {
    return this.#sent === undefined || this.#sent < this.#from + this.#text.length;
  }

  write(more: string): void {
    const kept = keepEnd(this.#text + more);
    this.#from += this.#text.length + more.length - kept.length;
    this.#text = kept;
  }

  unsent(): LiveFrame {
    const sent = this.#sent ?? 0;
    const offset = Math.max(this.#from, sent);
    this.#sent = this.#from + this.#text.length;
    const frame = { ...this.#about, offset, text: this.#text.slice(offset - this.#from) };
    return offset > sent ? { ...frame, cut: true } : frame;
  }

  whole(): LiveFrame {
    this.#sent = this.#from + this.#text.length;
    return { ...this.#about, offset: this.#from, text: this.#text };
  }
}

export interface LiveOutput extends Disposable {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

/**
 * Output of the commands of a call, or of a command of `prepare`: both streams in the order of arrival. The first byte opens the live text.
 */
export function liveOutput(
  live: Live,
  runId: string,
  about: Pick<LiveSource, 'step_id' | 'attempt' | 'tool' | 'prepare'>,
): LiveOutput {
  let text: LiveText | undefined;
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  return {
    write(stream, chunk) {
      text ??= live.open(runId, { kind: 'command.output', ...about });
      text.write(decoders[stream].write(chunk));
    },
    [Symbol.dispose]: () => text?.end(),
  };
}

interface About {
  runId: string;
  turn: number;
  model: string;
}

/**
 * Shows a model's answer while the model writes, without the values of secrets. Disposed of after the answer or a failure.
 */
export function liveAnswer(live: Live, redactor: Redactor, { runId, turn, model }: About) {
  const texts = new Map<string, LiveText>();
  const open = (key: string, about: Omit<Parameters<Live['open']>[1], 'turn' | 'model'>): LiveText => {
    const known = texts.get(key);
    if (known !== undefined) return known;
    const opened = withoutSecrets(live.open(runId, { ...about, turn, model }), redactor);
    texts.set(key, opened);
    return opened;
  };
  open('asking', { kind: 'model.asking' });
  return {
    onDelta(delta: ModelDelta): void {
      if (delta.type !== 'call') {
        open(delta.type, { kind: `model.${delta.type}` }).write(delta.text);
        return;
      }
      const { index, tool, args } = delta;
      open(`call ${index}`, { kind: 'model.call', index, ...(tool !== undefined && { tool }) }).write(args);
    },
    [Symbol.dispose](): void {
      for (const text of texts.values()) text.end();
    },
  };
}

/** The value of a secret may come in pieces, so a possible beginning of a value is held back. */
function withoutSecrets(text: LiveText, redactor: Redactor): LiveText {
  const filter = redactor.stream();
  const decoder = new StringDecoder('utf8');
  /** The first half of a character. */
  let half = '';
  const write = (bytes: Buffer): void => {
    const words = decoder.write(bytes);
    if (words !== '') text.write(words);
  };
  return {
    write(more) {
      const all = half + more;
      half = /[\uD800-\uDBFF]$/.test(all) ? all.slice(-1) : '';
      write(filter.push(Buffer.from(half === '' ? all : all.slice(0, -1))));
    },
    end() {
      write(filter.end());
      text.end();
    },
  };
}
