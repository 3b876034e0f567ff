import { criticalPath } from '@holdpoint/contract/time-spent';
import type { TraceSpan } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { spanRows } from './trace.tsx';

let ids = 0;
function span(
  kind: TraceSpan['kind'],
  [from, to]: [number, number],
  parent?: TraceSpan,
  attributes: TraceSpan['attributes'] = {},
): TraceSpan {
  ids += 1;
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    ...{ span_id: ids.toString(16).padStart(16, '0'), parent_id: parent?.span_id ?? null, kind, name: kind },
    ...{ start: at(from), end: at(to), status: 'ok', attributes, events: [], links: [] },
  };
}

const run = span('run', [0, 100]);
const short = span('step', [0, 30], run);
const shortTry = span('attempt', [0, 30], short);
const long = span('step', [0, 90], run);
const decision = span('wait', [0, 50], long, { 'holdpoint.wait.for': 'approval' });
const longTry = span('attempt', [50, 90], long);
const model = span('turn', [90, 100], run, { 'gen_ai.operation.name': 'chat' });
const all = [longTry, run, short, shortTry, long, decision, model];

test('the critical path goes through the work that the end waited for', () => {
  const expected = [run, long, decision, longTry, model];
  expect(criticalPath(all, 100)).toEqual(new Set(expected.map(({ span_id }) => span_id)));
});

test('rows are in the order of the tree, and a wait for a decision counts for a person', () => {
  const rows = spanRows({ spans: all, now: 100 });
  expect(rows.map(({ depth, spender }) => `${depth} ${spender}`)).toEqual([
    ...['0 other', '1 other', '2 tool', '1 other', '2 person', '2 tool', '1 model'],
  ]);
});

test('a span whose parent is on no page is a root', () => {
  expect(spanRows({ spans: [span('attempt', [0, 1], span('step', [0, 1]))], now: 1 })).toMatchObject([{ depth: 0 }]);
});
