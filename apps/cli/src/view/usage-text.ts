import type { Run } from '@holdpoint/contract/wire';
import { counted } from '../output/units.ts';

/** The usage of a run so far: `12,345 tokens in (8,000 cached), 1,200 out, $0.0123`. */
export function usageText(usage: {
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens?: number | undefined;
  cost_usd: number;
}): string {
  const { input_tokens, output_tokens, cached_input_tokens = 0, cost_usd } = usage;
  if (input_tokens + output_tokens === 0) return '';
  const cached = cached_input_tokens === 0 ? '' : ` (${grouped(cached_input_tokens)} cached)`;
  const cost = cost_usd === 0 ? '' : `, $${cost_usd.toFixed(cost_usd < 1 ? 4 : 2)}`;
  return `${grouped(input_tokens)} tokens in${cached}, ${grouped(output_tokens)} out${cost}`;
}

/** The usage of an ended run, with its steps and sub-agents. */
export function runUsageText({ usage }: Pick<Run, 'usage'>): string {
  const agents = usage.agents.count === 0 ? '' : `, ${counted(usage.agents.count, 'sub-agent')}`;
  const steps = counted(usage.steps, 'step');
  return [`${steps}${agents}`, usageText(usage)].filter((text) => text !== '').join(' · ');
}

const grouped = (count: number): string => count.toLocaleString('en-US');
