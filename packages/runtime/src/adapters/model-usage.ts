import type { ModelUsage } from '@holdpoint/contract';
import type { ModelAnswer } from '@holdpoint/models';

/** US dollars per million tokens, by `provider/model`. */
export type ModelPrices = Readonly<Record<string, { input: number; output: number }>>;

/** Tokens and, where the operator has set the model's price, what they cost. */
export function usageOf({ model, usage }: Pick<ModelAnswer, 'model' | 'usage'>, prices: ModelPrices): ModelUsage {
  const price = prices[model];
  if (price === undefined) return usage;
  // Dollars per million tokens are millionths of a dollar per token.
  const cost = usage.input_tokens * price.input + usage.output_tokens * price.output;
  return { ...usage, cost_micros: Math.ceil(cost) };
}
