import type { ModelUsage } from '@holdpoint/contract';
import { costOf, type ModelAnswer, type ModelOverrides } from '@holdpoint/models';

/** Facts about models from the operator. The operator's prices take precedence over the prices of the table. */
export type ModelPrices = ModelOverrides;

/** Tokens and, where the price of the model is known, their cost. */
export function usageOf(answer: Pick<ModelAnswer, 'model' | 'usage'>, prices: ModelPrices): ModelUsage {
  const cost_micros = costOf(answer, prices);
  return cost_micros === undefined ? answer.usage : { ...answer.usage, cost_micros };
}
