/**
 * Runs tasks of the same key in sequence, tasks of different keys concurrently. A caller whose signal aborts leaves the line at once; a
 * task in progress is awaited.
 */
export type Serial = <T>(key: string, task: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export function createSerial(): Serial {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, task, signal) => {
    signal?.throwIfAborted();
    const before = tails.get(key) ?? Promise.resolve();
    const left = Promise.withResolvers<never>();
    const leave = (): void => left.reject(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    const result = before.then(() => {
      signal?.removeEventListener('abort', leave);
      signal?.throwIfAborted();
      return task();
    });
    const tail = result
      .catch(() => {})
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return Promise.race([result, left.promise]);
  };
}
