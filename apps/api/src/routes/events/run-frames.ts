import { isTerminal } from '@holdpoint/contract';
import { endOfStream, liveEvent } from '@holdpoint/contract/wire';
import { notificationChannel, type RunState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { frame, heartbeat, opening } from '../../live/stream.ts';
import { waitingEvents } from '../../live/waiting-events.ts';

/** Names the live text in a subscription's set of notifications. */
const liveText = 'live';

/**
 * A run's events after `after`, in the order of the log, until the last. A notification only says when to read the log. A quiet stream also
 * reads the log once per heartbeat, in case a notification was lost.
 */
export async function* runFrames(
  deps: Pick<ApiDeps, 'engine' | 'notifications' | 'live' | 'heartbeatMs'>,
  runId: string,
  { after, live }: { after: number; live: boolean },
  signal: AbortSignal,
): AsyncGenerator<string> {
  // Subscribes before the read of the log: no event is missed in between.
  const subscription = await deps.notifications.subscribe(notificationChannel(runId));
  const texts = live ? await deps.live.join(runId, () => subscription.notify(liveText)) : undefined;
  try {
    yield opening();
    let seq = after;
    let isNews = true;
    let readAt = performance.now();
    while (!signal.aborted) {
      for (const text of texts?.take() ?? []) yield frame({ event: liveEvent, data: text });
      if (!isNews && performance.now() - readAt < deps.heartbeatMs) {
        isNews = isOfLog(await subscription.next({ timeoutMs: deps.heartbeatMs, signal }));
        continue;
      }
      readAt = performance.now();
      const limit = waitingEvents.pageSize();
      const events = await deps.engine.events.list(runId, { after: seq, limit });
      for await (const event of waitingEvents.each(events)) {
        seq = event.seq;
        yield frame({ event: event.type, id: seq, data: event });
      }
      if (events.length === limit) continue;
      const run = await deps.engine.runs.find(runId);
      if (run === undefined) return;
      if (run.seq <= seq && isLast(run)) {
        yield frame({ event: endOfStream, data: { seq } });
        return;
      }
      const notified = await subscription.next({ timeoutMs: deps.heartbeatMs, signal });
      if (notified.size === 0 && !signal.aborted) yield heartbeat();
      isNews = isOfLog(notified);
    }
  } finally {
    texts?.close();
    subscription.close();
  }
}

/** Live text alone is no reason to read the log. A timeout without notifications is a reason. */
const isOfLog = (notified: ReadonlySet<string>): boolean => !(notified.size === 1 && notified.has(liveText));

const isLast = (run: RunState): boolean => isTerminal(run.status) && !pending.includes(run.publication);

/** A parked publish continues after its decision. */
const pending: readonly RunState['publication'][] = ['requested', 'parked', 'discarding'];
