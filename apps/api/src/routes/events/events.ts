import { isTerminal } from '@holdpoint/contract';
import {
  endOfStream,
  eventPageSchema,
  idParamsSchema,
  listEventsQuerySchema,
  runChanged,
} from '@holdpoint/contract/wire';
import { notificationChannel, notificationPattern, type RunState } from '@holdpoint/engine';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { frame, heartbeat, opening, sendStream } from '../../live/stream.ts';
import { findRun, toRun } from '../runs/run.ts';

export function readEventsRoutes(app: App, deps: ApiDeps): void {
  const listEventsOperation = {
    tags: ['events'],
    operationId: 'listEvents',
    summary: 'Read the events of a run, or follow them',
    description:
      'With `Accept: text/event-stream` the events are streamed: `id` is the sequence number, `event` the type. ' +
      'A client that comes back with `Last-Event-ID` continues where it stopped. The event `end` is the last one.',
    params: idParamsSchema,
    querystring: listEventsQuerySchema,
    response: {
      200: {
        description: 'A page of events, or a stream of them',
        content: { 'application/json': { schema: eventPageSchema }, 'text/event-stream': { schema: z.string() } },
      },
    },
  };
  app.get('/v1/runs/:id/events', { schema: listEventsOperation }, async (request, reply) => {
    const { id } = await findRun(deps, request.params.id);
    const { after, limit } = request.query;
    if (wantsStream(request)) {
      const from = lastEventId(request) ?? after ?? 0;
      sendStream(deps, reply, (signal) => runFrames(deps, id, from, signal));
      return reply;
    }
    // One event more than the limit shows whether there is another page.
    const found = await deps.engine.events.list(id, { after: after ?? 0, limit: limit + 1 });
    const data = found.slice(0, limit);
    const more = found.length > limit;
    const next_cursor = more ? String(data.at(-1)?.seq ?? 0) : null;
    return reply.type('application/json; charset=utf-8').send({ data, next_cursor, has_more: more });
  });

  const followRunsOperation = {
    tags: ['events'],
    operationId: 'followRuns',
    summary: 'Follow all runs',
    description:
      'Server-sent events `run.changed` with the current state of the run. Quick changes of one run may be one event.',
    response: { 200: { description: 'A stream', content: { 'text/event-stream': { schema: z.string() } } } },
  };
  app.get('/v1/events', { schema: followRunsOperation }, async (_request, reply) => {
    sendStream(deps, reply, (signal) => allFrames(deps, signal));
    return reply;
  });
}

const wantsStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') ?? false;

/** A browser that comes back sends both; what it saw last wins over where it began. */
function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

/** An event is up to 32 KiB, so at most 1.6 MiB wait for a slow reader. */
const page = 50;

/**
 * A run's events after `after`, as they are logged, until the last one. A notification only says when to read the log. A quiet stream
 * also reads it once per heartbeat, in case a notification was lost.
 */
async function* runFrames(
  deps: Pick<ApiDeps, 'engine' | 'notifications' | 'heartbeatMs'>,
  runId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  // Before the log is read, so that no event is missed in between.
  const subscription = await deps.notifications.subscribe(notificationChannel(runId));
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
      if (run.seq <= seq && isLast(run)) {
        yield frame({ event: endOfStream, data: { seq } });
        return;
      }
      const notified = await subscription.next({ timeoutMs: deps.heartbeatMs, signal });
      if (notified.size === 0 && !signal.aborted) yield heartbeat;
    }
  } finally {
    subscription.close();
  }
}

const isLast = (run: RunState): boolean => isTerminal(run.status) && !pending.includes(run.publication);

/** A parked publish continues after its decision. */
const pending: readonly RunState['publication'][] = ['requested', 'parked', 'discarding'];

/**
 * Each run that changes, in its state at the time of the frame. A slow reader gets fewer frames and no outdated ones: the server keeps
 * only the ids of the runs that changed.
 */
async function* allFrames(
  deps: Pick<ApiDeps, 'engine' | 'notifications' | 'heartbeatMs'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const subscription = await deps.notifications.subscribeToAll(notificationPattern);
  try {
    yield opening;
    while (!signal.aborted) {
      const changed = await subscription.next({ timeoutMs: deps.heartbeatMs, signal });
      if (changed.size === 0 && !signal.aborted) yield heartbeat;
      for (const id of changed) {
        const run = await deps.engine.runs.find(id);
        if (run !== undefined) yield frame({ event: runChanged, data: toRun(run) });
      }
    }
  } finally {
    subscription.close();
  }
}
