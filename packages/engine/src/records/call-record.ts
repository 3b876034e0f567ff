import type { AuditBody, AuditBodyOf, Problem, StepSettled } from '@holdpoint/contract';
import { digestOfPayload, problemOf, type Redact, textOfPayload } from './audit-text.ts';
import { hostsOf } from './network-facts.ts';
import { ofRun, type RunFacts } from './run-facts.ts';

/** The record of a settled call. */
export function callRecord(facts: RunFacts, event: StepSettled, redact: Redact): AuditBody | undefined {
  const { step_id, data } = event;
  const known = facts.calls.get(step_id);
  // A settled step settles no second time.
  if (known === undefined) return undefined;
  facts.calls.delete(step_id);
  const { created, approvals, tasks, asked } = known;
  const { turn, index, name, call_id, tool, risk } = created.data;
  const status = event.type.slice('step.'.length) as AuditBodyOf<'call'>['outcome']['status'];
  const verdict = known.verdict ?? deniedBy(data.error);
  return {
    ...{ kind: 'call', ...ofRun(facts, event), step_id, turn, index, name, call_id, tool, toolset: facts.toolset },
    ...{ effect: known.effect, risk, args: textOfPayload(known.args, redact) },
    ...{ asked: asked && textOfPayload(asked, redact), verdict: verdict && redacted(verdict, redact) },
    approvals: approvals.size === 0 ? undefined : [...approvals.values()],
    attempts: known.attempts,
    snapshot: { before: known.before, after: facts.snapshot },
    created_at: created.time,
    duration_ms: data.duration_ms,
    outcome: {
      status,
      error: problemOf(data.error, redact),
      result: data.value && digestOfPayload(data.value),
    },
    ...{ capabilities: data.capabilities, ...hostsOf(known.network) },
    ...{ tasks: tasks.length === 0 ? undefined : tasks, inherited_from: data.inherited_from },
  };
}

/** The gate refused the call and left no other verdict. */
const deniedBy = (error: Problem | undefined): AuditBodyOf<'call'>['verdict'] =>
  error?.code === 'EPERMISSION' ? { action: 'deny', reason: error.message } : undefined;

function redacted<Verdict extends object>(verdict: Verdict, redact: Redact): Verdict {
  return JSON.parse(JSON.stringify(verdict), (_key, value) => (typeof value === 'string' ? redact(value) : value));
}
