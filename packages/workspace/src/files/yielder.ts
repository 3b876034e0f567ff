import { setImmediate } from 'node:timers/promises';

/** Longest stretch of synchronous file work before other work of the process gets its turn, in ms. */
const stretch = 10;

/**
 * File work runs synchronously but gives way now and then: 2,000 lstat calls take 12 ms, 30 ms through the thread pool all at
 * once, 79 ms through it one by one. Returns a promise only when it is time to wait.
 */
export type Yielder = () => Promise<void> | undefined;

export function createYielder(signal?: AbortSignal): Yielder {
  let since = performance.now();
  return () => {
    if (performance.now() - since < stretch) return undefined;
    return setImmediate().then(() => {
      signal?.throwIfAborted();
      since = performance.now();
    });
  };
}
