import type { PlannerInput } from '@holdpoint/engine/worker';
import type { Model } from '@holdpoint/models';
import { type ModelPrices, usageOf } from '../adapters/model-usage.ts';

type Used = Parameters<PlannerInput['recordUsed']>[0];

/** A model that records the tokens of each stream that was cut, before the request fails. */
export function countCuts(model: Model, prices: ModelPrices, record: PlannerInput['recordUsed']): Model {
  return {
    async generate(request) {
      const cut: Used[] = [];
      try {
        return await model.generate({
          ...request,
          onCut({ usage, estimated }) {
            const used = usageOf({ model: request.model, usage }, prices);
            cut.push({ model: request.model, why: 'cut_off', usage: used, estimated });
          },
        });
      } catch (error) {
        // Where Redis is away as well, the caller needs the error of the request more than the count.
        for (const one of cut) await record(one).catch(() => {});
        throw error;
      }
    },
  };
}
