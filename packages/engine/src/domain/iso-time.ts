/** The second of the last answer of `isoOf`, and its text up to the point. */
let second = { number: Number.NaN, text: '' };

/** As `Date.toISOString`, of whole milliseconds since the epoch. Times follow each other within seconds, so the text of the last second is kept. */
export function isoOf(ms: number): string {
  const number = Math.floor(ms / 1000);
  if (number !== second.number) second = { number, text: new Date(number * 1000).toISOString().slice(0, -4) };
  return `${second.text}${String(ms - number * 1000).padStart(3, '0')}Z`;
}

let last: { time: string; ms: number | undefined } = { time: '', ms: undefined };

/**
 * Milliseconds since the epoch of a time in the form of `Date.toISOString`; undefined for another text. The events of an append have the
 * same time, so the last answer is kept.
 */
export function msOf(time: string): number | undefined {
  if (last.time === time) return last.ms;
  const ms = Date.parse(time);
  last = { time, ms: !Number.isNaN(ms) && new Date(ms).toISOString() === time ? ms : undefined };
  return last.ms;
}
