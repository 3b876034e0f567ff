import type { MessageShape } from './protobuf.ts';

/** The messages of OTLP 1.x that a receiver of tests reads: field numbers of opentelemetry-proto, names of its JSON. */
const anyValue: MessageShape = {
  1: ['stringValue', 'string'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'int64'],
  4: ['doubleValue', 'double'],
  5: ['arrayValue', () => ({ 1: ['values', [() => anyValue]] })],
  6: ['kvlistValue', () => ({ 1: ['values', [() => keyValue]] })],
  7: ['bytesValue', 'bytes'],
};
const keyValue: MessageShape = { 1: ['key', 'string'], 2: ['value', () => anyValue] };
const resource: MessageShape = { 1: ['attributes', [() => keyValue]] };
const scope: MessageShape = { 1: ['name', 'string'], 2: ['version', 'string'] };

const spanEvent: MessageShape = {
  1: ['timeUnixNano', 'fixed64'],
  2: ['name', 'string'],
  3: ['attributes', [() => keyValue]],
};
const spanLink: MessageShape = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['traceState', 'string'],
  4: ['attributes', [() => keyValue]],
};
const span: MessageShape = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['traceState', 'string'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'string'],
  6: ['kind', 'varint'],
  7: ['startTimeUnixNano', 'fixed64'],
  8: ['endTimeUnixNano', 'fixed64'],
  9: ['attributes', [() => keyValue]],
  11: ['events', [() => spanEvent]],
  13: ['links', [() => spanLink]],
  15: ['status', () => ({ 2: ['message', 'string'], 3: ['code', 'varint'] })],
};

const exemplar: MessageShape = {
  2: ['timeUnixNano', 'fixed64'],
  3: ['asDouble', 'double'],
  4: ['spanId', 'hex'],
  5: ['traceId', 'hex'],
  6: ['asInt', 'sfixed64'],
};
const numberPoint: MessageShape = {
  2: ['startTimeUnixNano', 'fixed64'],
  3: ['timeUnixNano', 'fixed64'],
  4: ['asDouble', 'double'],
  5: ['exemplars', [() => exemplar]],
  6: ['asInt', 'sfixed64'],
  7: ['attributes', [() => keyValue]],
};
const histogramPoint: MessageShape = {
  2: ['startTimeUnixNano', 'fixed64'],
  3: ['timeUnixNano', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['bucketCounts', ['fixed64']],
  7: ['explicitBounds', ['double']],
  8: ['exemplars', [() => exemplar]],
  9: ['attributes', [() => keyValue]],
};
const points = (point: MessageShape): MessageShape => ({
  1: ['dataPoints', [() => point]],
  2: ['aggregationTemporality', 'varint'],
  3: ['isMonotonic', 'bool'],
});
const metric: MessageShape = {
  1: ['name', 'string'],
  2: ['description', 'string'],
  3: ['unit', 'string'],
  5: ['gauge', () => points(numberPoint)],
  7: ['sum', () => points(numberPoint)],
  9: ['histogram', () => points(histogramPoint)],
};

const logRecord: MessageShape = {
  1: ['timeUnixNano', 'fixed64'],
  2: ['severityNumber', 'varint'],
  3: ['severityText', 'string'],
  5: ['body', () => anyValue],
  6: ['attributes', [() => keyValue]],
  9: ['traceId', 'hex'],
  10: ['spanId', 'hex'],
  11: ['observedTimeUnixNano', 'fixed64'],
  12: ['eventName', 'string'],
};

/** A request of a signal: resources, their scopes, and the items. */
const request = (names: [string, string, string], item: MessageShape): MessageShape => {
  const scopes: MessageShape = { 1: ['scope', () => scope], 2: [names[2], [() => item]] };
  const resources: MessageShape = { 1: ['resource', () => resource], 2: [names[1], [() => scopes]] };
  return { 1: [names[0], [() => resources]] };
};
export const traceRequest = request(['resourceSpans', 'scopeSpans', 'spans'], span);
export const metricsRequest = request(['resourceMetrics', 'scopeMetrics', 'metrics'], metric);
export const logsRequest = request(['resourceLogs', 'scopeLogs', 'logRecords'], logRecord);
