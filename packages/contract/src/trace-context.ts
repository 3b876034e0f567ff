import { z } from 'zod';

/** `traceparent` of W3C Trace Context, level 1. */
export const traceparentSchema = z.string().regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);

/** Where a run hangs in the trace of its caller. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string | undefined;
}

/**
 * The trace context of a request. The standard says: without a valid `traceparent` there is none, and an invalid `tracestate` is dropped
 * alone. A future version may have more fields: the reader drops them.
 */
export function readTraceContext(headers: {
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}): TraceContext | undefined {
  const traceparent = validParent(headers.traceparent);
  if (traceparent === undefined) return undefined;
  const tracestate = headers.tracestate?.trim();
  return { traceparent, tracestate: tracestate && isTracestate(tracestate) ? tracestate : undefined };
}

function validParent(text: string | undefined): string | undefined {
  const [, version, traceId, spanId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text?.trim() ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId ?? '') || /^0+$/.test(spanId ?? '')) return undefined;
  return `00-${traceId}-${spanId}-${flags}`;
}

const mostMembers = 32;
const longestState = 512;
const member =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

function isTracestate(text: string): boolean {
  const members = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const keys = new Set(members.map((one) => one.slice(0, one.indexOf('='))));
  return (
    text.length <= longestState &&
    members.length <= mostMembers &&
    keys.size === members.length &&
    members.every((one) => member.test(one))
  );
}
