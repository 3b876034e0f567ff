import type { LoggedEvent } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { type Damaged, fromStored, isOfType, readEntry, readRawLogEntries, seqBefore } from '../log/index.ts';

/** The events about approvals in a part of a log. */
export interface ApprovalEvents {
  events: (LoggedEvent | Damaged)[];
  /** The last event that was looked at. */
  seq: number;
}

const aboutApprovals = isOfType('approval\\.[a-z_]+');

/**
 * The events about approvals of a run, oldest first. Only these events are parsed: a run has hundreds of other ones for each.
 * @param from.after a sequence number. Without it, the events at `since` (milliseconds since the epoch) and later
 */
export async function readApprovalEvents(
  { redis }: Pick<EngineDeps, 'redis'>,
  runId: string,
  from: { after: number } | { since: number },
): Promise<ApprovalEvents> {
  const events: ApprovalEvents['events'] = [];
  const after = 'after' in from ? from.after : await seqBefore(redis, runId, from.since);
  let last = after;
  for await (const { seq, text } of readRawLogEntries(redis, runId, { after })) {
    if (aboutApprovals.test(text)) events.push(await readEntry(`${runId}:${seq}`, () => fromStored(runId, seq, text)));
    last = seq;
  }
  return { events, seq: last };
}
