import type { EndedSpans, TraceSpan } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { countSpans } from './count-spans.ts';

type Count = [metric: string, labels: Record<string, string>, by: number];

/** What the metrics count for one span. */
async function countsOf(span: Pick<TraceSpan, 'kind' | 'status' | 'attributes'>): Promise<Count[]> {
  const counts: Count[] = [];
  const count = (...[metric, labels, by]: Count) => counts.push([metric, labels, by]);
  const times = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:01Z' };
  const batch = [{ run_id: 'run_1', trace_id: 't', spans: [{ span_id: 's', ...times, ...span }] }];
  const counted = countSpans({ count, record: () => undefined } as never, { tools: ['bash'], models: ['openai/m'] });
  await counted.take(batch as unknown as EndedSpans[]);
  return counts;
}

const named = { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm' };
const usage = { ...named, 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 1 };

test('cached input is counted with the model, and as 0 where the provider has no cache', async () => {
  const cached = { ...usage, 'gen_ai.usage.cache_read.input_tokens': 60 };
  const turn = { kind: 'turn', status: 'ok' } as const;
  expect(await countsOf({ ...turn, attributes: cached })).toEqual([['cachedTokens', named, 60]]);
  expect(await countsOf({ ...turn, attributes: usage })).toEqual([['cachedTokens', named, 0]]);
  expect(await countsOf({ ...turn, attributes: named })).toEqual([]);
});

test('a summary is a compaction, whether it succeeded or failed; a turn is none', async () => {
  const attributes = { ...named, 'holdpoint.context.compaction': 'summarised' };
  const outcomeOf = async (status: 'ok' | 'error') => countsOf({ kind: 'turn', status, attributes });
  expect(await outcomeOf('ok')).toEqual([['compactions', { ...named, outcome: 'succeeded' }, 1]]);
  expect(await outcomeOf('error')).toEqual([['compactions', { ...named, outcome: 'failed' }, 1]]);
  expect(await countsOf({ kind: 'turn', status: 'error', attributes: named })).toEqual([]);
});

test('verdicts of the gate have the tool, and a hostile name of a tool becomes other', async () => {
  const of = (tool: string) => ({ 'gen_ai.tool.name': tool, 'holdpoint.step.verdict': 'hold' });
  const step = (tool: string) => countsOf({ kind: 'step', status: 'ok', attributes: of(tool) });
  expect(await step('bash')).toEqual([['gateVerdicts', { tool: 'bash', verdict: 'hold' }, 1]]);
  expect(await step('ba\nsh{x="y"}')).toEqual([['gateVerdicts', { tool: 'other', verdict: 'hold' }, 1]]);
});
