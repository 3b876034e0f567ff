/**
 * What differs between two runs of the same command: durations, dates and times of day, addresses, numbers of processes, names of temporary
 * files. Each pattern begins with a fixed character class, so a match takes linear time.
 */
const volatile = [
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?\b/g,
  /\b\d{1,12}(?:[.,]\d{1,12})? ?(?:ms|µs|us|ns|secs?|seconds?|mins?|minutes?|[smh])\b/g,
  /\b(?:duration_ms|time=|pid[ =:]|process )\s?\d[\d.]{0,20}/gi,
  /\(node:\d+\)/g,
  /\b0x[0-9a-f]{4,16}\b/gi,
  /\/tmp\/[\w.-]{1,80}/g,
] as const;

/** The text with one sign in place of each of them. */
export const withoutVolatile = (text: string): string =>
  volatile.reduce((left, pattern) => left.replace(pattern, '~'), text);
