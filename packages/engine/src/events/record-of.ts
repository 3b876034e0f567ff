import type { AuditBody, EventType, RunEvent } from '@holdpoint/contract';
import type { Redact } from '../records/audit-text.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { meanings } from './index.ts';
import type { Meaning } from './meaning.ts';

const byType = new Map(Object.entries<Meaning<EventType>>(meanings));

/** Whether each event of the type has its own record in the audit log. */
export const isRecorded = (type: string): boolean => byType.get(type)?.audit.record !== undefined;

/** Takes an event into the facts, before its record is made. */
export function learn(facts: RunFacts, event: RunEvent): void {
  const meaning = byType.get(event.type);
  if (meaning?.snapshot !== undefined) facts.snapshot = meaning.snapshot(event).id;
  meaning?.audit.learn?.(facts, event);
}

/** The record about an event with learned facts. Drops the facts not needed by later records. */
export const bodyOfEvent = (facts: RunFacts, event: RunEvent, redact: Redact): AuditBody | undefined =>
  byType.get(event.type)?.audit.record?.(facts, event, redact);
