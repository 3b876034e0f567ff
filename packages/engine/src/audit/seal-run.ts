import type { AuditLog, RunEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { bodyOfEvent, isRecorded, learn } from '../events/record-of.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import type { Logger } from '../ports/index.ts';
import type { Redact } from '../records/audit-text.ts';
import { noFacts, type RunFacts } from '../records/run-facts.ts';
import { RangeDigest, readStored, type StoredEvent } from './range-digest.ts';
import type { Sealable } from './record-line.ts';

export interface SealDeps {
  redis: Redis;
  logger: Logger;
  /** Makes the secrets of a tenant unreadable. */
  redact: (text: string, tenant: string) => string;
}

/** How far a run is read and sealed. Thrown away when a batch was not committed: the cursor in Redis is the truth. */
export interface RunProgress {
  facts: RunFacts;
  /** The last event in the facts and in `open`. */
  read: number;
  sealed: number;
  /** The digest of the events after `sealed`. */
  open: RangeDigest;
  /** The time of the last event read. */
  time: string;
}

/** @param sealed the cursor of the run */
export async function openProgress({ redis }: SealDeps, runId: string, sealed: number): Promise<RunProgress> {
  const facts = noFacts();
  if (sealed > 0) {
    for await (const events of readStored(redis, runId, 1, sealed)) {
      for (const stored of events) {
        const event = eventFrom(runId, stored);
        if (event === undefined) continue;
        tryTo(() => learn(facts, event));
        // Called only to drop the facts used up by the event's record.
        tryTo(() => bodyOfEvent(facts, event, () => ''));
      }
    }
  }
  return { facts, read: sealed, sealed, open: new RangeDigest(), time: new Date(0).toISOString() };
}

/** Whether the log has a new event in need of a record. Cheaper than learning the facts of a long run. */
export const hasRecord = async (deps: Pick<SealDeps, 'redis'>, runId: string, after: number): Promise<boolean> =>
  (await firstRecorded(deps, runId, after)) !== undefined;

/** The time of the first new event in need of a record. */
export async function firstRecorded(
  { redis }: Pick<SealDeps, 'redis'>,
  runId: string,
  after: number,
): Promise<string | undefined> {
  for await (const events of readStored(redis, runId, after + 1)) {
    const found = events.map((stored) => eventFrom(runId, stored)).find((event) => isRecorded(String(event?.type)));
    if (found !== undefined) return found.time;
  }
  return undefined;
}

/** The records about the new events of a run. Events after the last event with a record stay open, unless the run has ended. */
export async function* sealRun(deps: SealDeps, runId: string, progress: RunProgress): AsyncGenerator<Sealable> {
  const { facts } = progress;
  for await (const events of readStored(deps.redis, runId, progress.read + 1)) {
    for (const stored of events) {
      if (stored.id !== `${progress.read + 1}-0`) {
        // A seal would hide the gap. Verification finds gaps among unsealed events.
        deps.logger.error(
          { run_id: runId, event: stored.id },
          'a log has a gap: its events after the gap are not sealed',
        );
        return;
      }
      progress.read = stored.seq;
      progress.open.add(stored);
      const event = eventFrom(runId, stored);
      progress.time = event?.time ?? progress.time;
      const body = event && describe(facts, event, (text) => deps.redact(text, facts.tenant));
      if (body === 'unreadable' || event === undefined) {
        yield sealable(progress, { kind: 'log', run_id: runId, unreadable: true });
      } else if (body !== undefined) yield sealable(progress, body);
    }
  }
  if (facts.hasEnded && progress.read > progress.sealed) yield sealable(progress, { kind: 'log', run_id: runId });
}

function sealable(progress: RunProgress, body: Sealable['body']): Sealable {
  const { facts, sealed, read, open, time } = progress;
  const run_id = 'run_id' in body ? body.run_id : '';
  const log: AuditLog = { run_id, from: sealed + 1, to: read, ...open.end() };
  progress.sealed = read;
  progress.open = new RangeDigest();
  return { body, time, tenant: facts.tenant, log };
}

function describe(facts: RunFacts, event: RunEvent, redact: Redact): Sealable['body'] | 'unreadable' | undefined {
  try {
    learn(facts, event);
    return bodyOfEvent(facts, event, redact);
  } catch {
    return 'unreadable';
  }
}

function tryTo(work: () => unknown): void {
  try {
    work();
  } catch {
    // An event written by another program: its record says `unreadable`.
  }
}

/** Undefined for a text of another program, which may be anything. */
function eventFrom(runId: string, { text, seq }: StoredEvent): RunEvent | undefined {
  if (text === undefined) return undefined;
  try {
    // No record has the id of an event.
    return recordedEvent(runId, seq, text.toString());
  } catch {
    return undefined;
  }
}
