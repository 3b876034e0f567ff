import { setImmediate } from 'node:timers/promises';

/** Longest stretch of synchronous file work before the process does other work, in ms. */
const maxStretch = 10;

/**
 * Lets other work of the process run now and then: file work is synchronous, because 2,000 lstat calls take 12 ms, 30 ms concurrently
 * through the thread pool, 79 ms sequentially through the pool. Returns a promise only at the time to wait.
 */
export type Yielder = () => Promise<void> | undefined;

export function createYielder(signal?: AbortSignal): Yielder {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxStretch) return undefined;
    return setImmediate().then(() => {
      signal?.throwIfAborted();
      since = performance.now();
    });
  };
}
