import { readTraceContext, type TraceContext } from '@holdpoint/contract';
import type { FastifyRequest } from 'fastify';

/** The headers `traceparent` and `tracestate`. By the standard a bad one counts as none, and a request with one is not refused. */
export const traceContext = ({ headers }: Pick<FastifyRequest, 'headers'>): TraceContext | undefined =>
  readTraceContext({ traceparent: textOf(headers.traceparent), tracestate: textOf(headers.tracestate) });

/** Node joins several headers of one name. Two `traceparent` are not valid; several `tracestate` are one list. */
const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
