import { type IdKind, isIdOf, partsOfTraceparent, readTraceContext } from '@holdpoint/contract';
import type { LogContext } from '@holdpoint/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';

const kinds = { run_id: 'run', step_id: 'step', task_id: 'task', approval_id: 'approval' } as const satisfies Partial<
  Record<keyof LogContext, IdKind>
>;
/** The longest id, `step_` and a UUID, with room. */
const longestId = 64;

/** The subject of a request: the ids of its path. */
export function aboutRequest({ params }: FastifyRequest): LogContext {
  const given = typeof params === 'object' && params !== null ? Object.values(params) : [];
  const ids = given.filter((value): value is string => typeof value === 'string' && value.length <= longestId);
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([name, kind]) => {
      const found = ids.find((id) => isIdOf(kind, id));
      return found === undefined ? [] : [[name, found]];
    }),
  );
}

/** The subject of a log line, with the run made by the request. The line belongs to the trace of the caller. */
export function lineAbout(request: FastifyRequest, reply?: FastifyReply): LogContext & { trace_id?: string } {
  const about = aboutRequest(request);
  if (about.run_id !== undefined) return about;
  const made = /\/(run_[0-9a-f-]{36})$/.exec(String(reply?.getHeader('location') ?? ''))?.[1];
  const trace_id = traceOfRequest(request);
  return { ...about, ...(made !== undefined && { run_id: made }), ...(trace_id !== undefined && { trace_id }) };
}

/** The trace of the caller, from the standard header. */
export function traceOfRequest({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const context = readTraceContext({ traceparent });
  return context && partsOfTraceparent(context.traceparent).traceId;
}

/** The path of a request, without its query. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';
