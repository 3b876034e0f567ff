import { setTimeout as delay } from 'node:timers/promises';
import type { AuditRecord } from '@holdpoint/contract';
import type { Page, Step } from '@holdpoint/contract/wire';

type SealedCall = Extract<AuditRecord, { kind: 'call' }>;
interface PageQuery {
  limit: number;
  cursor?: string | undefined;
}

/** The used part of `createClient` of `@holdpoint/client`. */
export interface SealedLog {
  listSteps(runId: string, query: PageQuery): Promise<Page<Step>>;
  listAudit(query: PageQuery & { run_id: string }): Promise<Page<AuditRecord>>;
}

/**
 * The audit records of a run's calls, in the order they settled: arguments, verdict, attempts, snapshots, duration and outcome of each. Waits until
 * every settled call has its record: about a second.
 *
 * @param signal ends the wait. @default after 30 s
 */
export async function sealedCalls(
  log: SealedLog,
  runId: string,
  signal = AbortSignal.timeout(30_000),
): Promise<SealedCall[]> {
  const steps = await whole((page) => log.listSteps(runId, page));
  const settled = new Set(steps.filter((step) => step.settled_at !== null).map(({ id }) => id));
  for (;;) {
    const records = await whole((page) => log.listAudit({ run_id: runId, ...page }));
    const calls = records.filter((record) => record.kind === 'call');
    if (settled.isSubsetOf(new Set(calls.map(({ step_id }) => step_id)))) return calls;
    await delay(100, undefined, { signal });
  }
}

async function whole<Item>(read: (page: PageQuery) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit: 100, cursor });
    items.push(...page.data);
    if (!page.has_more || page.next_cursor === null) return items;
    cursor = page.next_cursor;
  }
}
