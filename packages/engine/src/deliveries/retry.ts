const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long a delivery waits after its first failure, its second, and so on. After the last one the receiver is switched off. */
const retryDelays = [
  ...[5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
] as const;

/** The longest wait that a receiver may ask for. */
const longestWait = 24 * hour;

/**
 * Milliseconds until the next try; undefined: there is none. Up to a tenth more than the table, so that receivers which failed together do
 * not come back together.
 * @param failures including the last one
 * @param askedMs by Retry-After
 */
export function delayAfter(failures: number, askedMs: number | undefined, random: () => number): number | undefined {
  const delay = retryDelays[failures - 1];
  if (delay === undefined) return undefined;
  return Math.round(Math.max(delay, Math.min(askedMs ?? 0, longestWait)) * (1 + random() / 10));
}
