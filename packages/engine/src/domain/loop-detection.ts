import { createHash } from 'node:crypto';
import { canonicalJson, type Problem, type Repetition } from '@holdpoint/contract';

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
const withoutVolatile = (text: string): string => volatile.reduce((left, pattern) => left.replace(pattern, '~'), text);

/** The part of a settled step which shows progress. */
interface SettledCall {
  tool: string;
  args: unknown;
  status: string;
  value?: unknown;
  error?: { code: string } | undefined;
}

/** Longest cycle of turns that counts as a loop. */
const longestCycle = 4;

/** The repetition after another settled turn. Reads repetitions of older logs, which know no cycles. */
export function trackRepetition(before: Repetition | undefined, steps: readonly SettledCall[]): Repetition | undefined {
  if (steps.length === 0) return before;
  const digest = digestOf(steps);
  const { recent = before === undefined ? [] : [before.digest], cycles = [(before?.same ?? 1) - 1] } = before ?? {};
  const now = Array.from({ length: longestCycle }, (_, at) => (recent[at] === digest ? (cycles[at] ?? 0) + 1 : 0));
  return {
    digest,
    same: (now[0] ?? 0) + 1,
    failed: steps.every(hasNoAnswer) ? (before?.failed ?? 0) + 1 : 0,
    recent: [digest, ...recent].slice(0, longestCycle),
    cycles: now,
  };
}

/** The exit code of a command answers the question of the model: a search found nothing, files differ, a test fails. */
const hasNoAnswer = ({ status, error }: SettledCall): boolean => status !== 'succeeded' && error?.code !== 'EEXIT';

function digestOf(steps: readonly SettledCall[]): string {
  const calls = steps.map(({ tool, args, status, value, error }) => [
    tool,
    args,
    status,
    outcomeOf(value),
    outcomeOf(error),
  ]);
  return createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(calls))))
    .digest('hex')
    .slice(0, 16);
}

/** Without what differs between two equal outcomes: durations, clocks, addresses, and the sizes that follow from them. */
function outcomeOf(value: unknown): unknown {
  const text = JSON.stringify(value ?? null, (key, part: unknown) => {
    if (key.endsWith('_ms') || key.endsWith('_bytes')) return undefined;
    return typeof part === 'string' ? withoutVolatile(part) : part;
  });
  return JSON.parse(text);
}

interface Loop {
  /** The problem, in words for a person and for the model. */
  what: string;
  code: string;
  /** Turns in a row that repeat earlier turns, or that failed. */
  count: number;
  /** Count of the warning, and count of the pause. */
  tellAt: number;
  pauseAt: number;
}

/** @param after repetitions of one turn. A longer cycle needs three repetitions, and failures of different calls twice as many. */
function loopsOf({ cycles = [], failed }: Repetition, after: number): Loop[] {
  const found = Array.from({ length: longestCycle }, (_, at): Loop => {
    const turns = at + 1;
    const repetitions = turns === 1 ? after : Math.max(Math.min(3, after), Math.ceil(after / turns));
    const own = cycles[at] ?? 0;
    // Turns that repeat a shorter cycle repeat its multiples as well: the shortest counts alone.
    const count = cycles.slice(0, at).some((shorter) => shorter >= own) ? 0 : own;
    const tellAt = Math.max(turns, turns * (repetitions - 2));
    const pauseAt = Math.max(tellAt + turns, turns * (repetitions - 1));
    return { code: 'loop_repeated_calls', what: repeated(turns, count + turns), count, tellAt, pauseAt };
  });
  const failures = {
    code: 'loop_only_failures',
    what: `No call of the last ${failed} turns succeeded.`,
    count: failed,
  };
  return [...found, { ...failures, tellAt: 2 * after - 1, pauseAt: 2 * after }];
}

const repeated = (cycle: number, turns: number): string =>
  cycle === 1
    ? `The last ${turns} turns made the same calls and had the same results.`
    : `The last ${turns} turns repeated ${cycle} turns with the same calls and the same results.`;

/** The problem of a model without progress. @param after turns in a row */
export function isLooping(repetition: Repetition | undefined, after: number): Problem | undefined {
  const loop = repetition && loopsOf(repetition, after).find(({ count, pauseAt }) => count >= pauseAt);
  const next = 'Send it a message and resume it, undo its last steps, or cancel it.';
  return loop && { code: loop.code, message: loop.what, next };
}

/** What the model reads once, before the run would pause. A resumed run begins to count again. */
export function loopWarning(repetition: Repetition | undefined, after: number): string | undefined {
  const loop = repetition && loopsOf(repetition, after).find(({ count, tellAt }) => count === tellAt);
  return (
    loop &&
    `${loop.what} If this continues, the run pauses until a person looks at it. Do something else: question what you assumed, look at another place, or, when you wait for something, wait for it in one call. If nothing is left to try, answer without a call, and say what holds you up.`
  );
}
