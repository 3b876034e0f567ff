import type { ModelUsage } from '@holdpoint/contract';
import { costOf, type ModelAnswer, type ModelOverrides } from '@holdpoint/models';

/** What the operator says of models. Their prices count before those of the table. */
export type ModelPrices = ModelOverrides;

/** Tokens and, where the price of the model is known, what they cost. */
export function usageOf(answer: Pick<ModelAnswer, 'model' | 'usage'>, prices: ModelPrices): ModelUsage {
  const cost_micros = costOf(answer, prices);
  return cost_micros === undefined ? answer.usage : { ...answer.usage, cost_micros };
}
