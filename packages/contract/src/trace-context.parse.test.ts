import { expect, test } from 'vitest';
import { readTraceContext } from './trace-context.ts';
import { partsOfTraceparent } from './traceparent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

test('a valid traceparent names a trace and a span', () => {
  expect(readTraceContext({ traceparent })).toEqual({ traceparent, tracestate: undefined });
  expect(partsOfTraceparent(traceparent)).toEqual({ traceId, spanId, sampled: true });
  expect(partsOfTraceparent(`00-${traceId}-${spanId}-00`).sampled).toBe(false);
});

test('of a later version the known fields count', () => {
  expect(readTraceContext({ traceparent: `cc-${traceId}-${spanId}-01-what-comes-next` })?.traceparent).toBe(
    traceparent,
  );
});

test.each([
  ['nothing', undefined],
  ['an empty one', ''],
  ['upper case', traceparent.toUpperCase()],
  ['no trace', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['no span', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['the forbidden version', `ff-${traceId}-${spanId}-01`],
  ['a version 00 with more fields', `${traceparent}-more`],
  ['a later version that runs on', `cc-${traceId}-${spanId}-01.more`],
  ['two', `${traceparent}, ${traceparent}`],
  ['a short one', traceparent.slice(1)],
])('%s is no trace context', (_, text) => {
  expect(readTraceContext({ traceparent: text, tracestate: 'a=1' })).toBeUndefined();
});

test.each([
  'rojo=00f067aa0ba902b7',
  'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7',
  'fw529a3039@dt=FfAA, a/b*c-d_e=  1',
  'a=1,,b=2',
])('the tracestate %s is kept', (tracestate) => {
  expect(readTraceContext({ traceparent, tracestate })?.tracestate).toBe(tracestate);
});

test.each([
  'Rojo=1',
  'rojo',
  'rojo=',
  'rojo=a=b',
  'rojo=1,rojo=2',
  `a=${'x'.repeat(511)}`,
  Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(','),
  'a=\u00e4',
  'a=1\nb=2',
])('the tracestate %j is dropped alone', (tracestate) => {
  expect(readTraceContext({ traceparent, tracestate })).toEqual({ traceparent, tracestate: undefined });
});
