import { type AuditEntry, type AuditHead, type AuditRecord, auditRecordSchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { Page } from '../queries/list-runs.ts';
import { recordEntry, recordEntryOnce } from './audit-writer.ts';
import { type AuditFilter, readAudit, readAuditBack, readAuditHead } from './read-audit.ts';
import { verifyAudit } from './verify-audit.ts';

/** The audit log, for programs reading the log or recording a change outside of runs. */
export interface Audit {
  /** @param order `desc`: the last record first */
  list(filter: AuditFilter, limit: number, order?: 'asc' | 'desc'): Promise<Omit<Page<AuditRecord>, 'damaged'>>;
  /** The lines as the files have them, without line feeds. */
  lines(filter: AuditFilter): AsyncGenerator<string>;
  head(): Promise<AuditHead>;
  /** @param kept a head kept in another place */
  verify(options?: { kept?: AuditHead | undefined; signal?: AbortSignal }): ReturnType<typeof verifyAudit>;
  /** Records a change of a policy, a key, a secret. A worker seals the change soon. */
  record(entry: AuditEntry): Promise<void>;
  /** The same, unless an entry with this id was recorded before. */
  recordOnce(entry: AuditEntry): Promise<void>;
}

export function openAudit({ redis, dataDir }: { redis: Redis; dataDir: string }): Audit {
  return {
    async list(filter, limit, order = 'asc') {
      const items: AuditRecord[] = [];
      for await (const { text } of (order === 'asc' ? readAudit : readAuditBack)(dataDir, filter)) {
        const last = items.at(-1);
        if (items.length === limit && last) return { items, next: String(last.seq) };
        items.push(auditRecordSchema.parse(JSON.parse(text)));
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
