import * as contract from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { Page } from '../queries/list-runs.ts';
import { recordEntry, recordEntryOnce } from './audit-writer.ts';
import { type AuditFilter, readAudit, readAuditBack, readAuditHead } from './read-audit.ts';
import { verifyAssertions } from './verify-assertions.ts';
import { sealedLines, verifyChain } from './verify-chain.ts';
import { verifyLogs } from './verify-logs.ts';

/** The audit log, for programs reading the log or recording a change outside of runs. */
export interface Audit {
  /** @param order `desc`: the last record first */
  list(
    filter: AuditFilter,
    limit: number,
    order?: 'asc' | 'desc',
  ): Promise<Omit<Page<contract.AuditRecord>, 'damaged'>>;
  /** The lines as the files have them, without line feeds. */
  lines(filter: AuditFilter): AsyncGenerator<string>;
  head(): Promise<contract.AuditHead>;
  /** @param kept a head kept in another place */
  verify(options?: { kept?: contract.AuditHead | undefined; signal?: AbortSignal }): ReturnType<typeof verifyAudit>;
  /** Records a change of a policy, a key, a secret. A worker seals the change soon. */
  record(entry: contract.AuditEntry): Promise<void>;
  /** The same, unless an entry with this id was recorded before. */
  recordOnce(entry: contract.AuditEntry): Promise<void>;
}

export function openAudit({ redis, dataDir }: { redis: Redis; dataDir: string }): Audit {
  return {
    async list(filter, limit, order = 'asc') {
      const items: contract.AuditRecord[] = [];
      for await (const { text } of (order === 'asc' ? readAudit : readAuditBack)(dataDir, filter)) {
        const last = items.at(-1);
        if (items.length === limit && last) return { items, next: String(last.seq) };
        items.push(contract.auditRecordSchema.parse(JSON.parse(text)));
      }
      return { items };
    },
    async *lines(filter) {
      for await (const { text } of readAudit(dataDir, filter)) yield text;
    },
    head: () => readAuditHead({ redis }),
    verify: (options = {}) => verifyAudit({ redis, dataDir, ...options }),
    record: (entry) => recordEntry({ redis }, entry),
    recordOnce: (entry) => recordEntryOnce({ redis }, entry),
  };
}

interface Input {
  redis: Redis;
  dataDir: string;
  /** A head kept in another place: shows when all files and Redis were replaced together. */
  kept?: contract.AuditHead | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Finds any changed, removed, moved or doubled record of the audit log, and any event in a log different from its sealed form. Reads every
 * record and every sealed event, while the system may run. Also finds decisions that no passkey proves and that needed one.
 */
export async function verifyAudit({ redis, dataDir, kept, signal }: Input): Promise<contract.AuditReport> {
  const findings: contract.AuditFinding[] = [];
  let total = 0;
  const report = (finding: contract.AuditFinding): void => {
    total += 1;
    if (findings.length < contract.mostFindings) findings.push(finding);
  };
  const { head, records, isWhole } = await verifyChain({ redis, dataDir, report, kept });
  const { runs, sealed, unsealed, removed } = await verifyLogs({
    ...{ redis, dataDir, report, isWhole, upTo: head.seq, signal },
  });
  await verifyAssertions({ lines: sealedLines(dataDir, head.seq), report, isFromStart: true, signal });
  return {
    ok: total === 0,
    ...{ head, records, runs, events: { sealed, unsealed }, findings, findings_total: total },
    ...{ removed: removed.slice(0, contract.mostFindings), removed_total: removed.length },
  };
}
