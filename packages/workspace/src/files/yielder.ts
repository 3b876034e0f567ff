import { setImmediate } from 'node:timers/promises';

/** Longest stretch of synchronous file work before the process does other work, in ms. */
const maxStretch = 10;

/**
 * Lets other work of the process run now and then: file work is synchronous, because 2,000 lstat calls take 12 ms, 30 ms through the
 * thread pool at once, 79 ms through it one by one. Returns a promise only when it is time to wait.
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
