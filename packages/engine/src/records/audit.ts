import type { AuditBody, RunEvent } from '@holdpoint/contract';
import type { Redact } from './audit-text.ts';
import type { RunFacts } from './run-facts.ts';

/** What the audit log takes of an event. */
export interface Audit<Event extends RunEvent> {
  /** Takes into the facts what later records need of the event, before its own record is made. */
  learn?: (facts: RunFacts, event: Event) => void;
  /** Makes the record about the event, and drops the facts that no later record needs. Undefined: the event has no record of its own. */
  record?: (facts: RunFacts, event: Event, redact: Redact) => AuditBody | undefined;
}

/** For events that no record needs. */
export const noAudit = {};
