import type { AuditBody, RunEvent } from '@holdpoint/contract';
import type { Audit } from '../records/audit.ts';
import type { Redact } from '../records/audit-text.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { meanings } from './index.ts';

const audits = new Map<string, Audit<RunEvent>>(Object.entries(meanings).map(([type, { audit }]) => [type, audit]));

/** Whether events of the type have a record of their own, one record per event. */
export const isRecorded = (type: string): boolean => audits.get(type)?.record !== undefined;

/** Takes an event into the facts, before its record is made. */
export const learn = (facts: RunFacts, event: RunEvent): void => audits.get(event.type)?.learn?.(facts, event);

/** The record about an event with learned facts. Drops the facts not needed by later records. */
export const bodyOfEvent = (facts: RunFacts, event: RunEvent, redact: Redact): AuditBody | undefined =>
  audits.get(event.type)?.record?.(facts, event, redact);
