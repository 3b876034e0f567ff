import type { AuditFinding, AuditLog } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/index.ts';
import { pagesOfRuns } from '../log/index.ts';
import { logKey, stateKey } from '../log/keys.ts';
import { markLength, markOf, RangeDigest, readStored, sha256 } from './seal-run.ts';
import { soundRecords } from './verify-chain.ts';

export interface LogsCheck {
  runs: number;
  sealed: number;
  unsealed: number;
  removed: { run_id: string; events: number; digest: string }[];
}

interface Input {
  redis: Redis;
  dataDir: string;
  report: (finding: AuditFinding) => void;
  /** The chain has no finding, so the ranges of a run have to follow each other. */
  isWhole: boolean;
  /** The last record to compare. */
  upTo: number;
  signal?: AbortSignal | undefined;
}

interface SealedRun {
  /** The last sealed event, and the digest over the digests of its ranges. */
  to: number;
  digest: string;
  /** The last event in Redis; undefined: the log was removed. */
  last: number | undefined;
  /** Sealed, and no longer in the log. */
  gone: number | undefined;
}

/** How many ranges are read at once. */
const together = 16;

/** Compares the log of each run with the ranges sealed by records. Unsealed events have to be dense. */
export async function verifyLogs({ redis, dataDir, report, isWhole, upTo, signal }: Input): Promise<LogsCheck> {
  const losses = await findLost({ dataDir, report, upTo });
  const runs = new Map<string, SealedRun>();
  const check: LogsCheck = { runs: 0, sealed: 0, unsealed: 0, removed: [] };
  let work: Promise<void>[] = [];
  for await (const { seq, log, loss } of soundRecords(dataDir, upTo)) {
    signal?.throwIfAborted();
    if (loss !== undefined) {
      const run = runs.get(loss.run_id);
      if (run !== undefined) run.to = loss.from - 1;
      continue;
    }
    if (log === undefined) continue;
    const run = runs.get(log.run_id) ?? (await openRun(redis, log.run_id));
    runs.set(log.run_id, run);
    if (isWhole && log.from !== run.to + 1) {
      const message = `record ${seq} seals the events ${log.from} to ${log.to}, and the one before it ends at ${run.to}`;
      report({ code: 'range_broken', record: seq, run_id: log.run_id, message });
    }
    run.to = log.to;
    run.digest = sha256(run.digest + log.digest);
    if (run.last === undefined || isLost(losses, seq, log)) continue;
    if (log.to > run.last) run.gone ??= Math.max(log.from, run.last + 1);
    work.push(checkRange({ redis, report, last: run.last }, seq, log));
    if (work.length < together) continue;
    await Promise.all(work);
    work = [];
  }
  await Promise.all(work);
  await checkRest({ redis, report, runs, check, signal });
  return check;
}

/** Reads log and state in the same moment: both change in one append. */
async function readEnd(redis: Redis, runId: string): Promise<{ last: number | undefined; stated: number }> {
  const answers = await redis
    .multi()
    .xrevrange(logKey(runId), '+', '-', 'COUNT', 1)
    .hget(stateKey(runId), runField.seq.name)
    .exec();
  const [entries, seq] = (answers ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  }) as [[string, string[]][], string | null];
  const id = entries[0]?.[0];
  const stated = Number(seq ?? 0);
  const last = id === undefined ? undefined : Number(id.slice(0, id.indexOf('-')));
  return { last: last ?? (stated > 0 ? 0 : undefined), stated };
}

const openRun = async (redis: Redis, runId: string): Promise<SealedRun> => {
  const { last } = await readEnd(redis, runId);
  return { to: 0, digest: '', last, gone: undefined };
};

type Losses = Map<string, { record: number; from: number }[]>;

/** Losses recorded by the writer. Each loss is a finding for good: its record stays in the chain. */
async function findLost({ dataDir, report, upTo }: Pick<Input, 'dataDir' | 'report' | 'upTo'>): Promise<Losses> {
  const losses: Losses = new Map();
  for await (const { seq, loss } of soundRecords(dataDir, upTo)) {
    if (loss === undefined) continue;
    const { run_id, from, to } = loss;
    losses.set(run_id, [...(losses.get(run_id) ?? []), { record: seq, from }]);
    const message = `Redis went back to an earlier time: the sealed events ${from} to ${to} of ${run_id} are lost, and its numbering continued at ${from}`;
    report({ code: 'redis_went_back', record: seq, run_id, message });
  }
  return losses;
}

const isLost = (losses: Losses, seq: number, { run_id, to }: AuditLog): boolean =>
  (losses.get(run_id) ?? []).some(({ record, from }) => record > seq && to >= from);

/** @param context.last the last event of the log: later ones are reported once for the run */
async function checkRange(
  { redis, report, last }: Pick<Input, 'redis' | 'report'> & { last: number },
  record: number,
  { run_id, from, to, digest, marks }: AuditLog,
): Promise<void> {
  const found = new Map<string, string>();
  const whole = new RangeDigest();
  for await (const events of readStored(redis, run_id, from, to)) {
    for (const event of events) {
      whole.add(event);
      found.set(event.id, markOf(event.text ?? Buffer.from('\0')));
    }
  }
  const wanted = Array.from({ length: to - from + 1 }, (_, at) => `${from + at}-0`);
  const missing = wanted.filter((id, at) => !found.has(id) && from + at <= last);
  const added = [...found.keys()].filter((id) => !wanted.includes(id));
  const tell = (code: AuditFinding['code'], events: string[], what: string): void =>
    report({ code, record, run_id, events, message: `${what} ${events.join(', ')} of ${run_id} (record ${record})` });
  if (missing.length > 0) tell('event_missing', missing, 'missing in the log:');
  if (added.length > 0) tell('event_added', added, 'never sealed, and in the log:');
  const isComplete = missing.length === 0 && added.length === 0 && found.size === wanted.length;
  if (whole.end().digest === digest && isComplete) return;
  const differing = wanted.filter(
    (id, at) => found.has(id) && marks !== undefined && found.get(id) !== markAt(marks, at),
  );
  const sealedMarks = differing.map((id) => markAt(marks ?? '', wanted.indexOf(id))).sort();
  const isReordered =
    differing.length > 1 &&
    sealedMarks.join() ===
      differing
        .map((id) => found.get(id))
        .sort()
        .join();
  if (isReordered) tell('event_reordered', differing, 'in another order:');
  else if (differing.length > 0) tell('event_changed', differing, 'not what was sealed:');
  else if (isComplete) tell('event_changed', wanted, 'not what was sealed, at least one of');
}

const markAt = (marks: string, at: number): string => marks.slice(at * markLength, (at + 1) * markLength);

interface Rest extends Pick<Input, 'redis' | 'report' | 'signal'> {
  runs: Map<string, SealedRun>;
  check: LogsCheck;
}

/** Checks the events after the sealed events of each run, and the runs without a sealed event. */
async function checkRest({ redis, report, runs, check, signal }: Rest): Promise<void> {
  for (const [runId, run] of runs) {
    signal?.throwIfAborted();
    check.runs += 1;
    check.sealed += run.to;
    if (run.last === undefined) check.removed.push({ run_id: runId, events: run.to, digest: run.digest });
    else if (run.gone !== undefined) {
      const message = `the log of ${runId} ends at ${run.last}, and the events ${run.gone} to ${run.to} were sealed: it was cut, or Redis is an older copy`;
      report({ code: 'event_missing', run_id: runId, events: [`${run.gone}-0`, `${run.to}-0`], message });
    } else check.unsealed += await countUnsealed({ redis, report }, runId, run.to);
  }
  for await (const ids of pagesOfRuns(redis, 200)) {
    signal?.throwIfAborted();
    for (const id of ids) if (!runs.has(id)) check.unsealed += await countUnsealed({ redis, report }, id, 0);
  }
}

async function countUnsealed(
  { redis, report }: Pick<Input, 'redis' | 'report'>,
  runId: string,
  sealed: number,
): Promise<number> {
  const { last = 0, stated } = await readEnd(redis, runId);
  if (last !== stated) {
    const message = `the log of ${runId} ends at ${last}, and its state counts ${stated} events`;
    report({ code: last < stated ? 'event_missing' : 'event_added', run_id: runId, message });
  }
  if (last <= sealed) return 0;
  let expected = sealed + 1;
  for await (const events of readStored(redis, runId, sealed + 1, last)) {
    for (const { id, seq } of events) {
      if (id === `${expected}-0`) expected += 1;
      else if (seq >= expected) {
        const message = `missing in the log, not sealed yet: ${expected}-0 to ${seq - 1}-0 of ${runId}`;
        report({ code: 'event_missing', run_id: runId, events: [`${expected}-0`], message });
        expected = seq + 1;
      } else
        report({
          code: 'event_added',
          run_id: runId,
          events: [id],
          message: `in the log of ${runId} between two events: ${id}`,
        });
    }
  }
  return last - sealed;
}
