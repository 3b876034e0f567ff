import type { AuditBody, AuditBodyOf, EventOf, Problem, RunEvent, StepSettled } from '@holdpoint/contract';
import { digestOfPayload, type Redact, shortText, textOfPayload, textOfValue } from './audit-text.ts';
import type { NetworkFacts, RunFacts } from './run-facts.ts';

/** The events with a record of their own, one record per event. */
const recorded: ReadonlySet<string> = new Set<RunEvent['type']>([
  ...(['run.created', 'run.resumed', 'run.extended', 'run.paused', 'run.rewound', 'run.canceling'] as const),
  ...(['run.canceled', 'run.succeeded', 'run.failed', 'message.received', 'task.kill_requested'] as const),
  ...(['step.succeeded', 'step.failed', 'step.killed', 'step.timed_out', 'step.rejected'] as const),
  ...(['step.expired', 'step.canceled', 'step.cancel_requested', 'task.ended'] as const),
  ...(['approval.requested', 'approval.decided', 'approval.expired', 'approval.canceled'] as const),
  ...(['approval.voted', 'approval.delegated', 'approval.escalated', 'rule.remembered', 'rule.revoked'] as const),
  ...(['workspace.publish_requested', 'workspace.published', 'workspace.conflicted'] as const),
  ...(['workspace.publish_failed', 'workspace.publish_rejected', 'workspace.discard_requested'] as const),
]);

export const isRecorded = (type: string): boolean => recorded.has(type);

/** The record about an event with learned facts. Drops the facts not needed by later records. */
export function bodyOfEvent(facts: RunFacts, event: RunEvent, redact: Redact): AuditBody | undefined {
  switch (event.type) {
    case 'step.succeeded':
    case 'step.failed':
    case 'step.killed':
    case 'step.timed_out':
    case 'step.rejected':
    case 'step.expired':
    case 'step.canceled':
      return call(facts, event, redact);
    case 'approval.requested':
    case 'approval.decided':
    case 'approval.expired':
    case 'approval.canceled':
      return approval(facts, event, redact);
    case 'workspace.published':
    case 'workspace.conflicted':
    case 'workspace.publish_failed':
    case 'workspace.publish_rejected':
      return publish(facts, event, redact);
    case 'task.ended':
      return task(facts, event);
    default:
      return isRecorded(event.type) ? run(facts, event, redact) : undefined;
  }
}

const of = (facts: RunFacts, { run_id, type }: RunEvent) => ({
  ...{ run_id, event: type, submitted_by: { name: facts.submittedBy } },
});

function call(facts: RunFacts, event: StepSettled, redact: Redact): AuditBody | undefined {
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
    ...{ kind: 'call', ...of(facts, event), step_id, turn, index, name, call_id, tool, toolset: facts.toolset },
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

type ApprovalEvent = EventOf<'approval.requested' | 'approval.decided' | 'approval.expired' | 'approval.canceled'>;

function approval(facts: RunFacts, event: ApprovalEvent, redact: Redact): AuditBody {
  const { approval_id } = event.data;
  const asked = facts.approvals.get(approval_id)?.data;
  const known = event.step_id === undefined ? undefined : facts.calls.get(event.step_id);
  const common = {
    ...{ kind: 'approval' as const, ...of(facts, event), approval_id, step_id: event.step_id },
    ...{ tool: known?.created.data.tool, toolset: known && facts.toolset, about: asked?.kind },
    ...{ action_digest: asked?.action_digest, snapshot: asked?.snapshot },
    args: known && textOfPayload(known.args, redact),
  };
  switch (event.type) {
    case 'approval.requested': {
      const { reason, expires_at } = event.data;
      return { ...common, status: 'pending', reason: shortText(reason, redact), expires_at };
    }
    case 'approval.decided': {
      facts.approvals.delete(approval_id);
      const { decision, action_digest, snapshot, args, asked: before, message, by } = event.data;
      const { votes, rule_id, made_rule, expired } = event.data;
      return {
        ...{ ...common, status: statusAfter[decision], decision, action_digest, snapshot, decided_by: { name: by } },
        ...(args && { args: textOfPayload(args, redact) }),
        asked: before && textOfPayload(before, redact),
        ...{ votes: votes?.map((one) => ({ name: one.by, kind: one.kind })), rule_id, made_rule, expired },
        message: message === undefined ? undefined : shortText(message, redact),
      };
    }
    case 'approval.expired':
      facts.approvals.delete(approval_id);
      return { ...common, status: 'expired', expires_at: asked?.expires_at };
    case 'approval.canceled':
      facts.approvals.delete(approval_id);
      return { ...common, status: 'canceled', reason: shortText(event.data.reason, redact) };
    default:
      return event satisfies never;
  }
}

const statusAfter = { approve: 'approved', edit: 'edited', reject: 'rejected', respond: 'responded' } as const;

type PublishEvent = EventOf<
  'workspace.published' | 'workspace.conflicted' | 'workspace.publish_failed' | 'workspace.publish_rejected'
>;

function publish(facts: RunFacts, event: PublishEvent, redact: Redact): AuditBody {
  const { publishBy } = facts;
  const common = {
    ...{ kind: 'publish' as const, ...of(facts, event) },
    ...(publishBy !== undefined && { requested_by: { name: publishBy } }),
  };
  switch (event.type) {
    case 'workspace.published': {
      const { snapshot, published } = event.data;
      return { ...common, status: 'published', snapshot, detail: textOfValue(published, redact) };
    }
    case 'workspace.conflicted': {
      const { snapshot, conflicts } = event.data;
      return { ...common, status: 'conflicted', snapshot, detail: textOfValue(conflicts, redact) };
    }
    case 'workspace.publish_failed': {
      const { snapshot, reason } = event.data;
      return { ...common, status: 'failed', snapshot, error: problemOf(reason, redact) };
    }
    case 'workspace.publish_rejected':
      return { ...common, status: 'rejected', error: problemOf(event.data.reason, redact) };
    default:
      return event satisfies never;
  }
}

function task(facts: RunFacts, event: EventOf<'task.ended'>): AuditBody {
  const { task_id, status, exit_code } = event.data;
  const known = facts.tasks.get(task_id);
  facts.tasks.delete(task_id);
  return {
    ...{ kind: 'task', ...of(facts, event), task_id, status, exit_code },
    ...{ step_id: known?.created.step_id, about: known?.created.data.kind },
    snapshot: { before: known?.before ?? null, after: facts.snapshot },
    ...(known && hostsOf(known.network)),
  };
}

const runEnds = { 'run.succeeded': 'succeeded', 'run.failed': 'failed', 'run.canceled': 'canceled' } as const;

function run(facts: RunFacts, event: RunEvent, redact: Redact): AuditBody {
  const { type, data } = event;
  const by = 'by' in data && typeof data.by === 'string' ? data.by : undefined;
  const reason = 'reason' in data && typeof data.reason === 'object' ? data.reason : undefined;
  const status = type in runEnds ? runEnds[type as keyof typeof runEnds] : undefined;
  const detail = Object.keys(data).length === 0 ? undefined : textOfValue(data, redact);
  return {
    ...{ kind: 'run', ...of(facts, event), status, reason: problemOf(reason, redact), detail },
    ...(by !== undefined && { by: { name: by } }),
  };
}

function problemOf(problem: Problem | undefined, redact: Redact): { code: string; message: string } | undefined {
  return problem && { code: problem.code, message: shortText(problem.message, redact) };
}

const hostsOf = ({ hosts, leftOut }: NetworkFacts) => ({
  hosts: hosts.size === 0 ? undefined : [...hosts.values()],
  hosts_left_out: leftOut === 0 ? undefined : leftOut,
});
