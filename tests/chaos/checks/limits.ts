import { type LoggedEvent, settlesStep } from '@holdpoint/contract';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Found, FoundRun } from '../collect.ts';
import { isLost, type Ledger } from '../ledger.ts';

interface Span {
  from: number;
  to: number;
}

/** The clocks of two processes agree to less than this. */
const toleranceMs = 100;

const timeOf = ({ time }: LoggedEvent): number => Date.parse(time);

/** When the runs of a tenant began to count, and when they ended. A run continued after its end counts again. */
function activeSpans({ events }: FoundRun): Span[] {
  const spans: Span[] = [];
  for (const event of events) {
    const isStart = event.type === 'run.created' || (event.type === 'run.resumed' && event.data.after === 'end');
    if (isStart) spans.push({ from: timeOf(event), to: Number.POSITIVE_INFINITY });
    const isEnd = event.type === 'run.succeeded' || event.type === 'run.failed' || event.type === 'run.canceled';
    const last = spans.at(-1);
    if (isEnd && last !== undefined) last.to = timeOf(event);
  }
  return spans;
}

/** No run was accepted while its tenant had the permitted number of active runs. A lower limit ends no run. */
export function placesBounded({ runs }: Found, { places }: Ledger): Verdict {
  const spans = [...runs.values()].filter(({ run }) => run.parent === undefined).flatMap(activeSpans);
  const wrong: string[] = [];
  let looked = 0;
  for (const { from } of spans) {
    const inForce = places.filter((place) => place.from <= from).at(-1);
    if (inForce === undefined) continue;
    looked += 1;
    const active = spans.filter((span) => span.from <= from && span.to > from + toleranceMs).length;
    if (active > inForce.most)
      wrong.push(`at ${new Date(from).toISOString()} ${active} runs were active, and ${inForce.most} allowed`);
  }
  return verdict('no tenant has more active runs than its limit', looked, 'submissions under a changed limit', wrong);
}

/**
 * No worker process makes more steps at once than its setting says. An attempt whose end Redis lost seems longer than it was: such attempts
 * do not count.
 */
export function stepsBounded({ runs }: Found, { workers, lost }: Ledger): Verdict {
  const byWorker = new Map<string, Span[]>();
  for (const { events } of runs.values()) {
    for (const { worker, span } of attemptsIn(events)) {
      if (isLost({ lost }, { sent: span.from, answered: span.to })) continue;
      byWorker.set(worker, [...(byWorker.get(worker) ?? []), span]);
    }
  }
  const wrong: string[] = [];
  let looked = 0;
  for (const [worker, spans] of byWorker) {
    const most = workers.get(worker);
    if (most === undefined) continue;
    for (const { from } of spans) {
      looked += 1;
      const active = spans.filter((span) => span.from <= from && span.to > from).length;
      if (active > most) wrong.push(`${worker} made ${active} steps at once, and ${most} are allowed`);
    }
  }
  return verdict('no worker makes more steps at once than its limit', looked, 'attempts', wrong);
}

/** Attempts ended by their own worker. The real end of a lost attempt is in no log. */
function attemptsIn(events: readonly LoggedEvent[]): { worker: string; span: Span }[] {
  const open = new Map<string, { worker: string; attempt: number; from: number }>();
  const found: { worker: string; span: Span }[] = [];
  for (const event of events) {
    if (!('step_id' in event) || event.step_id === undefined) continue;
    if (event.type === 'step.started') {
      open.set(event.step_id, { ...event.data, from: timeOf(event) });
      continue;
    }
    if (!settlesStep(event) && event.type !== 'step.deferred') continue;
    const begun = open.get(event.step_id);
    open.delete(event.step_id);
    if (begun === undefined || begun.attempt !== event.data.attempt) continue;
    found.push({ worker: begun.worker, span: { from: begun.from, to: timeOf(event) } });
  }
  return found;
}
