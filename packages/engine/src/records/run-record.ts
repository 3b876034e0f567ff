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
