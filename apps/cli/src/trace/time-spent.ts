import { attribute, genAi, genAiOperation } from '@holdpoint/contract';
import type { TraceSpan } from '@holdpoint/contract/wire';
import { endOf, startOf, tookOf } from './read-whole-trace.ts';

/** Who or what a run waited for, the most specific first: when several happen at once, the first of them counts. */
export const spenders = ['tool', 'model', 'workspace', 'task', 'queue', 'person', 'caller', 'other'] as const;
type Spender = (typeof spenders)[number];
export type TimeSpent = Record<Spender, number>;

/** Where the wall time of a run went, in milliseconds. The parts add up to the whole. */
export function timeSpent(spans: readonly TraceSpan[], now: number): { total: number; spent: TimeSpent } {
  const runs = spans.filter(({ kind }) => kind === 'run');
  const total = runs.reduce((sum, run) => sum + tookOf(run, now), 0);
  const spent = Object.fromEntries(spenders.map((name) => [name, 0])) as TimeSpent;
  const going = { ...spent };
  let alive = 0;
  let at = 0;
  for (const { time, who, by } of changesOf(spans, now)) {
    if (alive > 0) spent[spenders.find((name) => going[name] > 0) ?? 'other'] += time - at;
    at = time;
    if (who === 'run') alive += by;
    else going[who] += by;
  }
  return { total, spent };
}

interface Change {
  time: number;
  who: Spender | 'run';
  by: 1 | -1;
}

function changesOf(spans: readonly TraceSpan[], now: number): Change[] {
  const changes = spans.flatMap((span): Change[] => {
    const who = span.kind === 'run' ? 'run' : spenderOf(span);
    if (who === undefined) return [];
    return [
      { time: startOf(span), who, by: 1 },
      { time: endOf(span, now), who, by: -1 },
    ];
  });
  return changes.sort((a, b) => a.time - b.time);
}

/** Undefined: other spans say it. */
function spenderOf({ kind, attributes }: TraceSpan): Spender | undefined {
  switch (kind) {
    case 'attempt':
      return 'tool';
    case 'turn':
      return attributes[genAi.operation] === genAiOperation.chat ? 'model' : undefined;
    case 'workspace':
      return 'workspace';
    case 'task':
      return 'task';
    case 'wait':
      return waits[String(attributes[attribute.waitFor])];
    case 'segment':
      return attributes[attribute.segmentState] === 'paused' ? 'person' : undefined;
    case 'run':
    case 'step':
    case 'publish':
      return undefined;
    default:
      return kind satisfies never;
  }
}

const waits: Partial<Record<string, Spender>> = {
  queue: 'queue',
  approval: 'person',
  question: 'person',
  task: 'task',
  calls: 'caller',
  model: 'model',
};
