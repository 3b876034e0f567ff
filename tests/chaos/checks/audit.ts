import type { AuditFindingCode, AuditReport } from '@holdpoint/contract';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Ledger } from '../ledger.ts';

/** Findings after Redis lost sealed writes. */
const ofLosses: ReadonlySet<AuditFindingCode> = new Set([
  'redis_went_back',
  'event_changed',
  'event_missing',
  'event_reordered',
  'event_added',
]);

/** The audit log equals its seal, after any death. Only losses of Redis are found, and only after a loss. */
export function auditSound(
  { findings, findings_total, records }: AuditReport,
  { lost }: Pick<Ledger, 'lost'>,
): Verdict {
  const unexpected = findings.filter(({ code }) => lost.length === 0 || !ofLosses.has(code));
  const more = lost.length === 0 && findings_total > findings.length ? [`${findings_total} findings in all`] : [];
  const wrong = [...unexpected.map(({ code, message }) => `${code}: ${message}`), ...more];
  return verdict('the audit log is as it was sealed', records, 'records', wrong);
}
