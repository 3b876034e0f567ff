import type { AuditBody, RunEvent } from '@holdpoint/contract';
import { problemOf, type Redact, textOfValue } from './audit-text.ts';
import { ofRun, type RunFacts } from './run-facts.ts';

const runEnds = { 'run.succeeded': 'succeeded', 'run.failed': 'failed', 'run.canceled': 'canceled' } as const;

/** The record of an event that has no other kind of record: a person or the run itself did something. */
export function runRecord(facts: RunFacts, event: RunEvent, redact: Redact): AuditBody {
  const { type, data } = event;
  const by = 'by' in data && typeof data.by === 'string' ? data.by : undefined;
  const reason = 'reason' in data && typeof data.reason === 'object' ? data.reason : undefined;
  const status = type in runEnds ? runEnds[type as keyof typeof runEnds] : undefined;
  const detail = Object.keys(data).length === 0 ? undefined : textOfValue(data, redact);
  return {
    ...{ kind: 'run', ...ofRun(facts, event), status, reason: problemOf(reason, redact), detail },
    ...(by !== undefined && { by: { name: by } }),
  };
}

/** What the audit log takes of an event. */
export interface Audit<Event extends RunEvent> {
  /** Takes into the facts what later records need of the event, before its own record is made. */
  learn?: (facts: RunFacts, event: Event) => void;
  /** Makes the record about the event, and drops the facts that no later record needs. Undefined: the event has no record of its own. */
  record?: (facts: RunFacts, event: Event, redact: Redact) => AuditBody | undefined;
}

/** For events that no record needs. */
export const noAudit = {};
