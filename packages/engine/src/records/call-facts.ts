import type { EventOf } from '@holdpoint/contract';
import { noNetwork } from './network-facts.ts';
import type { CallFacts, RunFacts } from './run-facts.ts';

export function beginCall(facts: RunFacts, created: EventOf<'step.created'>): void {
  const { args, effect } = created.data;
  const verdict = 'verdict' in created.data ? toVerdict(created.data.verdict) : undefined;
  facts.calls.set(created.step_id, {
    ...{ created, args, effect, verdict, before: facts.snapshot, tasks: [] },
    ...{ approvals: new Map(), attempts: [], network: noNetwork() },
  });
}

/** The verdict recorded by the gate. */
function toVerdict(value: unknown): CallFacts['verdict'] {
  if (typeof value !== 'object' || value === null || !('action' in value)) return undefined;
  const { action } = value;
  return action === 'allow' || action === 'hold' || action === 'deny' ? { ...value, action } : undefined;
}

/** Notes why the last attempt of a call ended without an outcome. */
export function interruptAttempt(
  facts: RunFacts,
  { step_id, data }: EventOf<'step.retried' | 'step.indeterminate'>,
): void {
  const call = facts.calls.get(step_id);
  if (call?.attempts.length) Object.assign(call.attempts.at(-1) ?? {}, { interrupted: data.reason.code });
}

export function learnTask(facts: RunFacts, event: EventOf<'task.created'>): void {
  const call = facts.calls.get(event.step_id);
  call?.tasks.push(event.data.task_id);
  const network = call?.network ?? noNetwork();
  facts.tasks.set(event.data.task_id, { created: event, before: facts.snapshot, network });
}
