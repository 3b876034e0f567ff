/** The trace and the span in a valid `traceparent`. */
export function partsOfTraceparent(traceparent: string): { traceId: string; spanId: string; sampled: boolean } {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
