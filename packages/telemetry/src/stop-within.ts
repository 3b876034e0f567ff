import { setTimeout as delay } from 'node:timers/promises';

/** Resolves when `stop` is done, has failed, or the time is over: a hanging receiver must not keep a process alive. */
export async function stopWithin(ms: number, stop: () => Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const late = delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([stop().catch(() => undefined), late]);
  over.abort();
}
