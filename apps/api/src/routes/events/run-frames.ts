import { isTerminal } from '@holdpoint/contract';
import { endOfStream } from '@holdpoint/contract/wire';
import { newsChannel, type RunState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { frame, heartbeat, opening } from '../../live/stream.ts';

/** Events are up to 32 KiB: at most 1.6 MiB of them wait for a client that reads slowly. */
const page = 50;

/**
 * A run's events after `after`, as they are logged, until nothing more will come. News only says when to look: what is sent is read from
 * the log, and a quiet stream looks once per heartbeat, whatever was or was not heard.
 */
export async function* runFrames(
  deps: Pick<ApiDeps, 'engine' | 'news' | 'heartbeatMs'>,
  runId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  // Before the first look at the log, so that nothing falls between the two.
  const ear = await deps.news.listen(newsChannel(runId));
  try {
    yield opening;
    let seq = after;
    while (!signal.aborted) {
      const events = await deps.engine.events.list(runId, { after: seq, limit: page });
      for (const event of events) {
        seq = event.seq;
        yield frame({ event: event.type, id: seq, data: event });
      }
      if (events.length === page) continue;
      const run = await deps.engine.runs.find(runId);
      if (run === undefined) return;
      if (run.seq <= seq && nothingMore(run)) {
        yield frame({ event: endOfStream, data: { seq } });
        return;
      }
      const heard = await ear.next({ timeoutMs: deps.heartbeatMs, signal });
      if (heard.size === 0 && !signal.aborted) yield heartbeat;
    }
  } finally {
    ear.close();
  }
}

const nothingMore = (run: RunState): boolean => isTerminal(run.status) && !underWay.includes(run.publication);

/** A publish that waits for a decision goes on when there is one. */
const underWay: readonly RunState['publication'][] = ['requested', 'parked', 'discarding'];
