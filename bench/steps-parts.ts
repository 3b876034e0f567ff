import { mean } from './figures.ts';
import type { Interval, Part } from './steps-tap.ts';

/** The order of precedence between simultaneous parts. */
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
  /** Milliseconds between two steps. */
  total: number;
  /** Commands sent by the worker to Redis per step. */
  commands: number;
  /** Milliseconds computed by the worker and Redis per step. The programs in sandboxes are left out. */
  computed: { worker: number; redis: number };
}

/** The parts of the time between two calls, in a run with sequential steps. */
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
  // The first append after the call has its outcome; a later append, the start of the next step.
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

/** `queue 1.10 (28 %), …`: parts with a measurable time, in the order of a step. */
export function partsText({ share, total }: Parts): string {
  return shown
    .map((part) => [part, share.get(part) ?? 0] as const)
    .filter(([, ms]) => ms >= 0.005)
    .map(([part, ms]) => `${part} ${ms.toFixed(2)} (${Math.round((ms / total) * 100)} %)`)
    .join(', ');
}
