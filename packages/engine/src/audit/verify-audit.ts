import { type AuditFinding, type AuditHead, type AuditReport, mostFindings } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { verifyAssertions } from './verify-assertions.ts';
import { sealedLines, verifyChain } from './verify-chain.ts';
import { verifyLogs } from './verify-logs.ts';

interface Input {
  redis: Redis;
  dataDir: string;
  /** A head kept in another place: shows when all files and Redis were replaced together. */
  kept?: AuditHead | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Finds any changed, removed, moved or doubled record of the audit log, and any event in a log different from its sealed form. Reads every
 * record and every sealed event, while the system may run. Also finds decisions that no passkey proves and that needed one.
 */
export async function verifyAudit({ redis, dataDir, kept, signal }: Input): Promise<AuditReport> {
  const findings: AuditFinding[] = [];
  let total = 0;
  const report = (finding: AuditFinding): void => {
    total += 1;
    if (findings.length < mostFindings) findings.push(finding);
  };
  const { head, records, isWhole } = await verifyChain({ redis, dataDir, report, kept });
  const { runs, sealed, unsealed, removed } = await verifyLogs({
    ...{ redis, dataDir, report, isWhole, upTo: head.seq, signal },
  });
  await verifyAssertions({ lines: sealedLines(dataDir, head.seq), report, isFromStart: true, signal });
  return {
    ok: total === 0,
    ...{ head, records, runs, events: { sealed, unsealed }, findings, findings_total: total },
    ...{ removed: removed.slice(0, mostFindings), removed_total: removed.length },
  };
}
