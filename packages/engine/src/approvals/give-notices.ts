import type { EngineDeps } from '../deps.ts';
import { giveNotice, isAbandoned, nextNotice, noticesGiven } from '../domain/index.ts';
import { append, noticeIndex, ownerOf, readApproval } from '../log/index.ts';

const page = 200;

/**
 * Sends due reminders of approvals, and escalates due approvals. Each notice is an event, recorded once, even by several workers. The
 * index moves on after the event. When a worker dies in between, the next sweep finds the notice of the entry recorded.
 */
export async function giveNotices(deps: EngineDeps, signal: AbortSignal): Promise<void> {
  const now = deps.now();
  let due: string[];
  do {
    due = await deps.redis.zrangebyscore(noticeIndex, '-inf', now, 'LIMIT', 0, page);
    for (const id of due) {
      if (signal.aborted) return;
      await giveNoticeOf(deps, id, now);
    }
  } while (due.length === page);
}

async function giveNoticeOf(deps: EngineDeps, id: string, now: number): Promise<void> {
  const { redis } = deps;
  const runId = await ownerOf(redis, id);
  const approval = runId === null ? undefined : await readApproval(redis, runId, id);
  if (runId === null || approval === undefined) {
    // The append that makes the approval may still come.
    if (isAbandoned(id, now)) await redis.zrem(noticeIndex, id);
    else await redis.zadd(noticeIndex, 'XX', now + 1000, id);
    return;
  }
  const notice = approval.status === 'pending' ? giveNotice(approval, now) : undefined;
  if (notice !== undefined) await append(deps, runId, notice);
  const after = await readApproval(redis, runId, id);
  const next = after?.status === 'pending' ? nextNotice(after.request, noticesGiven(after)) : undefined;
  if (next === undefined) await redis.zrem(noticeIndex, id);
  else await redis.zadd(noticeIndex, next, id);
}
