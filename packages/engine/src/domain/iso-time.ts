let last: { time: string; ms: number | undefined } = { time: '', ms: undefined };

/**
 * Milliseconds since the epoch of a time as `Date.toISOString` writes it; undefined for another text. The events of an append have one time,
 * so the last answer is kept.
 */
export function msOf(time: string): number | undefined {
  if (last.time === time) return last.ms;
  const ms = Date.parse(time);
  last = { time, ms: !Number.isNaN(ms) && new Date(ms).toISOString() === time ? ms : undefined };
  return last.ms;
}
