import { createFrameReader, type Frame } from './messages.ts';

/** A quiet stream carries a heartbeat every 15 s: after three of them the connection is dead, whatever the browser thinks. */
const silenceMs = 45_000;
/** A login in this browser cuts the pause short; this is for a login that no open page knows of. */
const sessionMs = 30_000;
const pausesMs = [250, 500, 1000, 2000, 4000, 8000];

export interface Following {
  path: string;
  /** Continues after the event with this id. */
  lastId?: string | undefined;
  onFrame(frame: Frame): void;
  /** @param isResumed the stream continues behind the last id, and misses nothing */
  onOpen(isResumed: boolean): void;
  onSign?(): void;
  onLost(why: 'connection' | 'session'): void;
  /** The caller's key has not the right to the stream: it is tried again when asked, and not before. */
  onRefused?(): void;
  /** The server has said that nothing follows, or knows no such stream. */
  onOver?(): void;
  signal: AbortSignal;
}

/** Follows a stream of the API until the signal, over any number of lost connections. `again` cuts the pause before the next try short. */
export function follow(following: Following): { again(): void } {
  let wake = (): void => undefined;
  void run();
  return { again: () => wake() };

  async function run(): Promise<void> {
    const { signal, onLost } = following;
    let lastId = following.lastId;
    let failures = 0;
    while (!signal.aborted) {
      const end = await readOnce(following, lastId, {
        opened: () => following.onOpen(lastId !== undefined),
        heard: (id) => {
          failures = 0;
          lastId = id ?? lastId;
        },
      });
      if (signal.aborted) return;
      if (end === 'over') return following.onOver?.();
      // The server has forgotten the id: all is read again, from now on.
      if (end === 'unknown id') lastId = undefined;
      else if (end === 'refused') following.onRefused?.();
      else onLost(end === 'session' ? 'session' : 'connection');
      await woken(pauseAfter(end, failures++));
    }
  }

  function woken(pauseMs: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = pauseMs === undefined ? undefined : setTimeout(resolve, pauseMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      following.signal.addEventListener('abort', wake, { once: true });
    });
  }
}

/** Undefined: only a login with another key changes the answer. */
function pauseAfter(end: End, failures: number): number | undefined {
  if (end === 'refused') return undefined;
  if (end === 'session') return sessionMs;
  return pausesMs[Math.min(failures, pausesMs.length - 1)];
}

type End = 'over' | 'lost' | 'session' | 'refused' | 'unknown id';

async function readOnce(
  { path, onFrame, onSign, signal }: Following,
  lastId: string | undefined,
  { opened, heard }: { opened(): void; heard(id: string | undefined): void },
): Promise<End> {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const sign = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), silenceMs);
    onSign?.();
  };
  try {
    timer = setTimeout(() => silent.abort(), silenceMs);
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (lastId !== undefined) headers['last-event-id'] = lastId;
    const response = await fetch(path, {
      headers,
      cache: 'no-store',
      credentials: 'same-origin',
      signal: AbortSignal.any([signal, silent.signal]),
    });
    if (response.status === 401) return 'session';
    if (response.status === 400 && lastId !== undefined) return 'unknown id';
    if (response.status === 403) return 'refused';
    if (response.status === 404) return 'over';
    if (!response.ok || response.body === null) return 'lost';
    opened();
    let isOver = false;
    const take = createFrameReader((frame) => {
      if (frame.event === 'end') isOver = true;
      heard(frame.id);
      if (frame.data !== '') onFrame(frame);
    });
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return isOver ? 'over' : 'lost';
      sign();
      take(decoder.decode(value, { stream: true }));
    }
  } catch {
    return 'lost';
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}
