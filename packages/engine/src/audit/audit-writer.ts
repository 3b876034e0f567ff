import { type AuditEntry, auditEntrySchema } from '@holdpoint/contract';
import { type RunState, runField } from '../domain/index.ts';
import { type FollowDeps, type FollowPace, followRuns } from '../following/follow-runs.ts';
import { activeIndex, pagesOf, pagesOfRuns } from '../log/index.ts';
import { auditChannel, auditCursorsKey, auditEntriesKey, auditedKey, stateKey } from '../log/keys.ts';
import { textOfValue } from '../records/audit-text.ts';
import { type Chain, type ChainDeps, ChainMoved, openChain } from './open-chain.ts';
import { hasRecord, openProgress, type RunProgress, type Sealable, type SealDeps, sealRun } from './seal-run.ts';

export type AuditDeps = ChainDeps & SealDeps;

/** Seals new events and entries. For one process at a time; when two processes seal, the records of one of them are refused. */
export interface AuditWriter {
  /** Seals the new events of these runs, and the waiting entries. @throws ChainMoved: open the writer again */
  seal(runIds: Iterable<string>, signal: AbortSignal): Promise<void>;
  /** Ids of runs with unsealed events. @param which `active`: only runs not yet ended */
  unsealed(which: 'all' | 'active'): AsyncGenerator<string>;
}

/** Records per batch: 200 KB as a rule, and 2 MB at most. The batch is in Redis during the writing. */
const batchLength = 128;
const mostProgress = 1000;
const page = 500;

export async function openAuditWriter(deps: AuditDeps): Promise<AuditWriter> {
  const { redis } = deps;
  const chain = await openChain(deps);
  /** In order of use: the first run is the least recently used. */
  const known = new Map<string, RunProgress>();

  const progressOf = async (runId: string): Promise<RunProgress | undefined> => {
    const found = known.get(runId);
    known.delete(runId);
    const progress = found ?? (await read(runId));
    if (progress === undefined) return undefined;
    known.set(runId, progress);
    if (known.size > mostProgress) known.delete([...known.keys()][0] ?? '');
    return progress;
  };
  const read = async (runId: string): Promise<RunProgress | undefined> => {
    const [cursor, [status, seq] = []] = await Promise.all([
      redis.hget(auditCursorsKey, runId),
      redis.hmget(stateKey(runId), runField.status.name, runField.seq.name),
    ]);
    const sealed = Number(cursor ?? 0);
    // The last notifications of a run often come when the whole run is sealed: without this check the writer would learn the run's facts
    // again from the whole log.
    if (sealed > 0 && sealed === Number(seq)) return undefined;
    if (sealed > 0 && !hasEnded(status) && !(await hasRecord(deps, runId, sealed))) return undefined;
    return openProgress(deps, runId, sealed);
  };

  return {
    async seal(runIds, signal) {
      const batch = new PendingRecords(chain);
      while ((await batch.takeEntries(deps)) === mostEntries) await batch.flush();
      for (const runId of runIds) {
        if (signal.aborted) break;
        const progress = await progressOf(runId);
        if (progress === undefined) continue;
        for await (const record of sealRun(deps, runId, progress)) {
          batch.take(record);
          if (batch.length >= batchLength) await batch.flush();
        }
        if (progress.facts.hasEnded) known.delete(runId);
      }
      await batch.flush();
    },
    async *unsealed(which) {
      const pages = which === 'all' ? pagesOfRuns(redis, page) : pagesOf(redis, activeIndex, page);
      for await (const ids of pages) {
        const [cursors, ...seqs] = await Promise.all([
          redis.hmget(auditCursorsKey, ...ids),
          ...ids.map((id) => redis.hget(stateKey(id), runField.seq.name)),
        ]);
        for (const [at, id] of ids.entries()) if (Number(seqs[at] ?? 0) > Number(cursors[at] ?? 0)) yield id;
      }
    },
  };
}

const endings: readonly RunState['status'][] = ['succeeded', 'failed', 'canceled'];
const hasEnded = (status: string | null | undefined): boolean => endings.some((one) => one === status);

/** Records for the next batch. */
class PendingRecords {
  private readonly chain: Chain;
  private records: Sealable[] = [];
  private cursors: Record<string, number> = {};
  private entries = 0;

  constructor(chain: Chain) {
    this.chain = chain;
  }

  get length(): number {
    return this.records.length;
  }

  take(record: Sealable): void {
    this.records.push(record);
    if (record.log !== undefined) this.cursors[record.log.run_id] = record.log.to;
  }

  /** @returns how many there were */
  async takeEntries({ redis, redact }: AuditDeps): Promise<number> {
    for (const text of await redis.lrange(auditEntriesKey, 0, mostEntries - 1)) {
      this.entries += 1;
      const entry = auditEntrySchema.parse(JSON.parse(text));
      const { id, time, tenant, by, subject, action, detail } = entry;
      const body = { kind: 'change' as const, entry_id: id, by, subject: redact(subject, tenant), action };
      this.take({
        body: { ...body, detail: detail === undefined ? undefined : textOfValue(detail, (one) => redact(one, tenant)) },
        time,
        tenant,
      });
    }
    return this.entries;
  }

  async flush(): Promise<void> {
    const { records, cursors, entries } = this;
    if (records.length === 0) return;
    this.records = [];
    this.cursors = {};
    this.entries = 0;
    await this.chain.add(records, { cursors, entries });
  }
}

const mostEntries = 100;

/** Records a change outside of runs. A process seals the change soon. @throws ZodError */
export async function recordEntry({ redis }: Pick<AuditDeps, 'redis'>, entry: AuditEntry): Promise<void> {
  const text = JSON.stringify(auditEntrySchema.parse(entry));
  await redis.rpush(auditEntriesKey, text);
  await redis.publish(auditChannel, '');
}

const onceScript = `
if redis.call('SET', KEYS[1], '1', 'NX', 'EX', ARGV[2]) then redis.call('RPUSH', KEYS[2], ARGV[1]) end`;
const rememberedS = 90 * 24 * 3600;

/** The same for a change that may be recorded again after a crash: an entry with the id of an earlier one is not recorded. @throws ZodError */
export async function recordEntryOnce({ redis }: Pick<AuditDeps, 'redis'>, entry: AuditEntry): Promise<void> {
  const text = JSON.stringify(auditEntrySchema.parse(entry));
  await redis.eval(onceScript, 2, auditedKey(entry.id), auditEntriesKey, text, rememberedS);
  await redis.publish(auditChannel, '');
}

interface Options extends Omit<AuditDeps, 'redact'>, FollowDeps, FollowPace {
  /** @default nothing is a secret */
  redact?: AuditDeps['redact'] | undefined;
}

/** Seals the events of all runs, in one process of many. */
export function startAudit({ redact = (text) => text, ...options }: Options): { stop(): Promise<void> } {
  const { logger, everyMs, lookMs, lostMs } = options;
  return followRuns(options, {
    name: 'audit',
    channels: [auditChannel],
    async open() {
      const writer = await openAuditWriter({ ...options, redact });
      return { unhandled: writer.unsealed, handle: writer.seal };
    },
    onError(error) {
      if (error instanceof ChainMoved) logger.debug({ err: error }, 'the audit log was opened again');
      else logger.warn({ err: error }, 'the audit log was not written; it is tried again');
    },
    ...{ everyMs, lookMs, lostMs },
  });
}
