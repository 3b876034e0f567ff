import * as wire from '@holdpoint/contract/wire';
import { splitDamaged } from '@holdpoint/engine';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../deps.ts';
import { ApiProblem, showDamaged } from '../../errors/to-problem.ts';
import { sendStream } from '../../live/stream.ts';
import { findRun } from '../runs/read-runs.ts';
import { allFrames, isYetToCome } from './all-frames.ts';
import { runFrames } from './run-frames.ts';

export function readEventsRoutes(app: App): void {
  app.get(
    '/v1/runs/:id/events',
    {
      config: { access: 'runs:read', headers: ['last-event-id'] },
      schema: {
        tags: ['events'],
        operationId: 'listEvents',
        summary: 'Read the events of a run, or follow them',
        description:
          'With `Accept: text/event-stream` the events are streamed: `id` is the sequence number, `event` the type. ' +
          'A client that comes back with `Last-Event-ID` continues where it stopped. The event `end` is the last one. ' +
          'With `live=true` the stream also has events `live` without an id: pieces of what a model writes and a command prints now, which no log has.',
        params: wire.idParamsSchema,
        querystring: wire.listEventsQuerySchema,
        response: {
          200: {
            description: 'A page of events, or a stream of them',
            content: {
              'application/json': { schema: wire.eventPageSchema },
              'text/event-stream': { schema: z.string() },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { deps } = request;
      const { id, seq } = await findRun(deps, request.params.id);
      const { after, limit, live } = request.query;
      if (wantsStream(request)) {
        const lastId = lastEventId(request);
        if (lastId !== undefined && lastId > seq) throw unknownEventId(`the newest event of ${id} is ${seq}`);
        const from = lastId ?? after ?? 0;
        await sendStream(deps, reply, (signal) => runFrames(deps, id, { after: from, live: live ?? false }, signal));
        return reply;
      }
      // A look at one more event than the limit shows whether another page follows.
      const found = await deps.engine.events.entries(id, { after: after ?? 0, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const { items: data, damaged } = splitDamaged(shown.map(({ entry }) => entry));
      const more = found.length > limit;
      const next_cursor = more ? String(shown.at(-1)?.seq ?? 0) : null;
      const page = { data, next_cursor, has_more: more, ...showDamaged(deps, damaged) };
      return reply.type('application/json; charset=utf-8').send(page);
    },
  );

  app.get(
    '/v1/events',
    {
      config: { access: 'runs:read', headers: ['last-event-id'] },
      schema: {
        tags: ['events'],
        operationId: 'followRuns',
        summary: 'Read the events of all runs, or follow all runs',
        description:
          'Pages have the events of the oldest run first, and those of each run in the order of its log. A page may be short or empty and still have a `next_cursor`. ' +
          'An event that is appended to a run before the cursor is on no later page: follow the stream for those. ' +
          'With `Accept: text/event-stream` it is a stream of `run.changed`, with the state of the run at that moment. Quick changes of one run may be one event. ' +
          'A caller with approvals:read also gets an `approval.changed` for each event about an approval. ' +
          'A client that comes back with `Last-Event-ID` first gets each run that changed in between; it may get a run again that it has seen, with the same `seq`.',
        querystring: wire.listAllEventsQuerySchema,
        response: {
          200: {
            description: 'A page of events, or a stream of runs',
            content: {
              'application/json': { schema: wire.eventPageSchema },
              'text/event-stream': { schema: z.string() },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { deps, query } = request;
      if (wantsStream(request)) {
        const lastId = lastEventId(request);
        if (lastId !== undefined && isYetToCome(lastId, deps.now())) throw unknownEventId('it is a time to come');
        await sendStream(deps, reply, (signal) => allFrames(deps, lastId, signal));
        return reply;
      }
      const { limit, since, cursor: after } = query;
      const { items: data, damaged, next } = await deps.engine.events.page({ after, since, limit });
      const next_cursor = next === undefined ? null : `${next.runId}:${next.seq}`;
      const page = { data, next_cursor, has_more: next !== undefined, ...showDamaged(deps, damaged) };
      return reply.type('application/json; charset=utf-8').send(page);
    },
  );
}

const wantsStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') ?? false;

/** A browser sends both after a reconnect; the last seen id wins over the start of the stream. */
function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = headers['last-event-id'];
  // A browser sends an empty id before the first frame with an id.
  if (id === undefined || id === '') return undefined;
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return Number(id);
  throw unknownEventId('expected the id of an event of this stream');
}

const unknownEventId = (detail: string): ApiProblem =>
  new ApiProblem('invalid_request', detail, { errors: [{ pointer: 'Last-Event-ID', detail }] });
