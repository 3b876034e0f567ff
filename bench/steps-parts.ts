import { mean } from './figures.ts';
import type { Interval, Part } from './steps-tap.ts';

/** Which part has a moment when several are under way. */
const order = ['spawn', 'command', 'set-up', 'snapshot', 'admit', 'tool', 'append', 'queue', 'read'] as const;

type Share = Exclude<Part, 'append' | 'idle'> | 'append outcome' | 'append start' | 'rest';
const shown: readonly Share[] = [
  'queue',
  'append start',
  'admit',
  'tool',
  'spawn',
  'set-up',
  'command',
  'snapshot',
  'append outcome',
  'read',
  'rest',
];

export interface Parts {
  /** Milliseconds of a step. */
  share: Map<Share, number>;
  /** Milliseconds from one step to the next. */
  total: number;
  /** Commands that the worker sends to Redis per step. */
  commands: number;
  /** Milliseconds that the worker and Redis compute per step. What runs in sandboxes is not in them. */
  computed: { worker: number; redis: number };
}

/** Where the time goes from one call to the next, in a run of one step after the other. */
export function partsOf(intervals: readonly Interval[], warmUp: number): Parts {
  const calls = intervals.filter(({ part }) => part === 'tool').toSorted((one, other) => one.begin - other.begin);
  const steps = calls.slice(warmUp, -1).map((call, index) => {
    const next = calls[warmUp + index + 1] ?? call;
    return paint(intervals, call, next.begin);
  });
  const share = new Map(shown.map((part) => [part, mean(steps.map((step) => step.share.get(part) ?? 0))]));
  const [first, last] = [calls[warmUp]?.computed, calls.at(-1)?.computed];
  const each = (name: 'worker' | 'redis'): number => ((last?.[name] ?? 0) - (first?.[name] ?? 0)) / steps.length;
  return {
    share,
    computed: { worker: each('worker'), redis: each('redis') },
    total: [...share.values()].reduce((sum, ms) => sum + ms, 0),
    commands: mean(steps.map((step) => step.commands)),
  };
}

function paint(all: readonly Interval[], call: Interval, until: number): Pick<Parts, 'share' | 'commands'> {
  const from = call.begin;
  const within = all.filter(({ part, begin, end }) => part !== 'idle' && end > from && begin < until);
  // The first append after the call has its outcome; a later one, the start of the next step.
  const outcome = within.find(({ part, begin, end }) => part === 'append' && (begin >= call.end || end > call.end));
  const edges = [from, until, ...within.flatMap(({ begin, end }) => [begin, end])]
    .filter((at) => at >= from && at <= until)
    .toSorted((one, other) => one - other);
  const share = new Map<Share, number>();
  for (const [index, begin] of edges.entries()) {
    const end = edges[index + 1] ?? until;
    const here = within.filter((one) => one.begin < end && one.end > begin);
    const found = order.flatMap((part) => here.filter((one) => one.part === part))[0];
    const name: Share =
      found === undefined
        ? 'rest'
        : found.part === 'append'
          ? found === outcome
            ? 'append outcome'
            : 'append start'
          : (found.part as Share);
    share.set(name, (share.get(name) ?? 0) + end - begin);
  }
  const commands = within.filter(
    ({ part, begin }) => ['append', 'queue', 'read'].includes(part) && begin >= from && begin < until,
  ).length;
  return { share, commands };
}

/** `queue 1.10 (28 %), …`: parts that take time, in the order of a step. */
export function partsText({ share, total }: Parts): string {
  return shown
    .map((part) => [part, share.get(part) ?? 0] as const)
    .filter(([, ms]) => ms >= 0.005)
    .map(([part, ms]) => `${part} ${ms.toFixed(2)} (${Math.round((ms / total) * 100)} %)`)
    .join(', ');
}
