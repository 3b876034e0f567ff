import { assertFreeSpace } from '../files/index.ts';

const everyMs = 200;

/**
 * A signal for writers into the data directory: aborted with ENOSPC as soon as too little space is free, or with the reason of the given
 * signal. To be disposed when they have ended.
 */
export function watchSpace(
  deps: { dataDir: string; limits: { freeBytes: number } },
  given: AbortSignal | undefined,
): { signal: AbortSignal; [Symbol.dispose](): void } {
  const full = new AbortController();
  const look = () => {
    try {
      assertFreeSpace(deps);
    } catch (error) {
      full.abort(error);
    }
  };
  look();
  const timer = setInterval(look, everyMs);
  return {
    signal: given === undefined ? full.signal : AbortSignal.any([full.signal, given]),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
