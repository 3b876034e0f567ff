import { readTraceContext, type TraceContext } from '@holdpoint/contract';
import type { FastifyRequest } from 'fastify';

/** The headers `traceparent` and `tracestate`. By the standard an invalid header counts as none, and the request is not refused. */
export const traceContext = ({ headers }: Pick<FastifyRequest, 'headers'>): TraceContext | undefined =>
  readTraceContext({ traceparent: textOf(headers.traceparent), tracestate: textOf(headers.tracestate) });

/** Node joins several headers of the same name. Two `traceparent` are not valid; several `tracestate` are a single list. */
const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
