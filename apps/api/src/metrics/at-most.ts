/** A value is read again when older than this bound, and older than fifty times the duration of its reading. */
const freshMs = 10_000;
const restFactor = 50;

/**
 * Reads a value at most once in a while, however many callers ask. Concurrent callers share a reading; a failure is kept for as long as a
 * value, so a slow Redis gets no more requests.
 */
export function atMostOften<Value>(
  read: () => Promise<Value>,
  now: () => number = () => performance.now(),
): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    const began = now();
    if (reading !== undefined && began < until) return reading;
    until = Number.POSITIVE_INFINITY;
    reading = read().finally(() => {
      const took = now() - began;
      until = began + Math.max(freshMs, took * restFactor);
    });
    return reading;
  };
}
