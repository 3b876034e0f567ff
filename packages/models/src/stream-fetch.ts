import { ModelError, unusableAnswer } from './errors.ts';

/** How long a streamed answer may keep silent. Milliseconds. */
export interface StreamLimits {
  /** Until its first byte. A local model reads the whole conversation before its first byte. */
  startMs: number;
  /** Between two bytes. Some providers send nothing while a model reasons. */
  idleMs: number;
}

export const defaultStreamLimits: StreamLimits = { startMs: 600_000, idleMs: 300_000 };

/** A token of text takes about 300 bytes on the wire. */
const mostStreamBytes = 256 * 1024 * 1024;
/** The last event of some formats repeats the whole answer. */
const mostEventBytes = 4 * 1024 * 1024;

/**
 * Thrown to the middleware of a streamed request: the server sent a whole answer in place of a stream. The next request gets that answer.
 */
export class WholeAnswer extends Error {
  override readonly name = 'WholeAnswer';
}

/** fetch for a streamed request. A silent, endless or broken stream fails with a ModelError. */
export function streamFetch(deps: {
  fetch: typeof globalThis.fetch;
  limits: StreamLimits;
  model: string;
}): typeof globalThis.fetch {
  let whole: Response | undefined;
  return async (input, init) => {
    if (whole !== undefined) return whole;
    const silence = new AbortController();
    const wait = silenceTimer(deps.model, silence);
    try {
      wait.start(deps.limits.startMs, 'EMODELUNAVAILABLE');
      const signal = AbortSignal.any([silence.signal, ...(init?.signal ? [init.signal] : [])]);
      const answer = await deps.fetch(input, { ...init, signal });
      if (!answer.ok || answer.body === null) return answer;
      const reader = answer.body.getReader();
      const first = await readFirst(reader);
      const { status, statusText, headers } = answer;
      const body = guarded({ reader, first, wait, idleMs: deps.limits.idleMs });
      if (!isWhole(first)) return new Response(body, { status, statusText, headers });
      whole = new Response(await new Response(body).arrayBuffer(), { status, statusText, headers });
    } catch (error) {
      throw silence.signal.aborted ? silence.signal.reason : error;
    } finally {
      wait.stop();
    }
    throw new WholeAnswer();
  };
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function readFirst(reader: Reader): Promise<Uint8Array> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array();
    if (value.length > 0) return value;
  }
}

/** JSON or a page. An event begins with the name of a field, or with a colon. */
function isWhole(first: Uint8Array): boolean {
  const start = first.find((byte) => byte > 32);
  return start === undefined || '{[<"'.includes(String.fromCharCode(start));
}

type SilenceTimer = ReturnType<typeof silenceTimer>;

function silenceTimer(model: string, silence: AbortController) {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  /** Rejects when the time is over. */
  const over = new Promise<never>((_resolve, reject) => {
    silence.signal.addEventListener('abort', () => reject(silence.signal.reason), { once: true });
  });
  over.catch(() => {});
  return {
    stop,
    over,
    start(ms: number, code: 'EMODELUNAVAILABLE' | 'EMODELCUTOFF') {
      stop();
      timer = setTimeout(() => silence.abort(silent(model, ms, code)), ms);
    },
  };
}

function silent(model: string, ms: number, code: 'EMODELUNAVAILABLE' | 'EMODELCUTOFF'): ModelError {
  const when = code === 'EMODELCUTOFF' ? ' in the middle of its answer' : '';
  return new ModelError({
    code,
    message: `${model} sent nothing for ${ms / 1000} s${when}.`,
    next: 'Ask again; if it stays so, check the provider, or raise HOLDPOINT_MODEL_START_MS and HOLDPOINT_MODEL_IDLE_MS.',
  });
}

interface Guarded {
  reader: Reader;
  first: Uint8Array;
  wait: SilenceTimer;
  idleMs: number;
}

/** The same bytes, with bounds. */
function guarded({ reader, first, wait, idleMs }: Guarded): ReadableStream<Uint8Array> {
  const events = eventMeter();
  let bytes = 0;
  let next: Uint8Array | undefined = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = next ?? (await read());
          next = undefined;
          if (chunk === undefined) return controller.close();
          bytes += chunk.length;
          if (bytes > mostStreamBytes) throw unusableAnswer(`has more than ${mostStreamBytes} bytes`);
          if (events.longest(chunk) > mostEventBytes)
            throw unusableAnswer(`has a part of more than ${mostEventBytes} bytes`);
          controller.enqueue(chunk);
        } catch (error) {
          reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );

  async function read(): Promise<Uint8Array | undefined> {
    wait.start(idleMs, 'EMODELCUTOFF');
    try {
      const { done, value } = await Promise.race([reader.read(), wait.over]);
      return done ? undefined : value;
    } finally {
      wait.stop();
    }
  }
}

/** Counts the bytes of the open event. An empty line ends an event. */
function eventMeter() {
  let open = 0;
  let isLineEmpty = true;
  return {
    /** The length in bytes of the longest event so far. */
    longest(chunk: Uint8Array): number {
      let most = 0;
      for (const byte of chunk) {
        open += 1;
        if (open > most) most = open;
        if (byte === 10 && isLineEmpty) open = 0;
        if (byte !== 13) isLineEmpty = byte === 10;
      }
      return most;
    },
  };
}
