import { isTerminal } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { read, type Transport } from '../request.ts';
import { follow, followLive, followRun, type LiveText, type Reconnecting } from '../stream.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';
import { runRequests } from './runs.ts';

export function eventRequests(transport: Transport) {
  const { ask } = transport;
  const { getRun } = runRequests(transport);
  return {
    listEvents: async (
      runId: string,
      query: { after?: number; limit?: number } = {},
      { signal }: Options = {},
    ): Promise<wire.Page<wire.RunEvent>> =>
      (await ask({ path: at('runs', runId, '/events'), query: { ...query }, signal }, wire.eventPageSchema)).body,

    /** A page of the spans of a run. Pages are in order of the ends of their spans; spans without an end are on the last page. */
    readTrace: async (
      runId: string,
      query: { after?: number; limit?: number } = {},
      { signal }: Options = {},
    ): Promise<wire.Trace> =>
      (await ask({ path: at('runs', runId, '/trace'), query: { ...query }, signal }, wire.traceSchema)).body,

    /**
     * A run's events from `after` on, each exactly once and in order, past lost connections. Ends when the run has ended and no
     * publication is under way.
     */
    events(
      runId: string,
      { after = 0, ...options }: Reconnecting & { after?: number } = {},
    ): AsyncGenerator<wire.RunEvent> {
      return followRun(transport, { path: at('runs', runId, '/events'), after, ...options });
    },

    /**
     * The events of a run, with `{ type: 'live' }` in between: pieces of a model's answer and a command's output, sent while they are
     * written, from the oldest kept piece on. No log has these pieces, so after a lost connection a text may continue after a gap
     * (`offset`), and another `since` means a new start of the text. The result of a step or a turn is in its event.
     */
    liveEvents(
      runId: string,
      { after = 0, ...options }: Reconnecting & { after?: number } = {},
    ): AsyncGenerator<wire.RunEvent | LiveText> {
      return followLive(transport, { path: at('runs', runId, '/events'), after, ...options });
    },

    /**
     * A page of the events of all runs, oldest run first. A page may be empty and still have a `next_cursor`. Later events of a run before
     * the cursor are on no later page.
     */
    listAllEvents: async (
      query: PageQuery & { since?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<wire.Page<wire.RunEvent>> =>
      (await ask({ path: '/v1/events', query: { ...query }, signal }, wire.eventPageSchema)).body,

    /**
     * Each run at each change, from now on, past lost connections. Quick changes of a run may arrive as a single change, and after a lost
     * connection a run may arrive again with the same `seq`. The iteration never ends.
     */
    async *changes({ signal }: Options = {}): AsyncGenerator<wire.Run> {
      for await (const { run } of allChanges(transport, signal)) if (run !== undefined) yield run;
    },

    /**
     * The same, and for a key with `approvals:read` what happens to approvals. A change may arrive again, with the same `seq`, after a lost
     * connection.
     */
    allChanges: ({ signal }: Options = {}) => allChanges(transport, signal),

    /**
     * Waits, on the run's events, until a condition holds.
     * @param options.until default: the run has ended
     * @returns the run at this time. When `until` does not hold for the returned run, the run has ended without the condition.
     */
    async waitForRun(
      runId: string,
      { until = hasEnded, signal }: Options & { until?: (run: wire.Run) => boolean } = {},
    ): Promise<wire.RunDetail> {
      let run = await getRun(runId, { signal });
      if (until(run)) return run;
      for await (const event of followRun(transport, { path: at('runs', runId, '/events'), after: run.seq, signal })) {
        if (event.seq <= run.seq) continue;
        // A long run has thousands of events: only events of the run itself can end it.
        if (until === hasEnded && !event.type.startsWith('run.')) continue;
        run = await getRun(runId, { signal });
        if (until(run)) return run;
      }
      return run;
    },
  };
}

const hasEnded = (run: wire.Run): boolean => isTerminal(run.status);

async function* allChanges(
  transport: Transport,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ run?: wire.Run; approval?: wire.ApprovalChange }> {
  let last: string | undefined;
  const requestFor = () => ({
    path: '/v1/events',
    headers: { accept: 'text/event-stream', 'last-event-id': last },
  });
  for await (const { id, event, data } of follow(transport, requestFor, { signal })) {
    last = id ?? last;
    if (event === wire.runChanged) yield { run: read(wire.runSchema, data, 200) };
    if (event === wire.approvalChanged) yield { approval: read(wire.approvalChangeSchema, data, 200) };
  }
}
