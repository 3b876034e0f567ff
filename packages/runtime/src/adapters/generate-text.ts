import type { ModelUsage, SecretScope } from '@holdpoint/contract';
import { describeModel, type Model } from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import type { GenerateRequest } from '@holdpoint/tools';
import { type ModelPrices, usageOf } from './model-usage.ts';
import { redactErrors } from './redact-executor.ts';

/** What tools ask models with. */
export interface ToolModels {
  model: Model;
  prices: ModelPrices;
}

interface CallOfModel {
  /** `provider/model`; undefined: the run has none. */
  model: string | undefined;
  needsPrice: boolean;
  scope: SecretScope;
  wallMs: number;
  signal: AbortSignal;
}

/** The model for one call of a tool, and what the call has used of it. No value of a secret goes to the model or comes back. */
export function openGenerate({ models, secrets }: { models: ToolModels; secrets: Secrets }, call: CallOfModel) {
  let used: ModelUsage | undefined;
  const { model, scope, wallMs } = call;
  if (model === undefined) return { generate: undefined, used: () => undefined };
  const generate = async ({ system = '', prompt, max_output_tokens }: GenerateRequest): Promise<{ text: string }> => {
    if (call.needsPrice && describeModel(model, models.prices).prices === undefined) throw new PriceUnknownError(model);
    const redactor = secrets.redactor(scope.tenant);
    const answer = await redactErrors(redactor, () =>
      models.model.generate({
        model,
        system: redactor.text(system),
        messages: [{ role: 'user', text: redactor.text(prompt) }],
        tools: [],
        maxOutputTokens: max_output_tokens,
        // Writing to the cache costs more, and no later request reads it.
        cache: false,
        signal: AbortSignal.any([call.signal, AbortSignal.timeout(wallMs)]),
      }),
    );
    used = sum(used, usageOf(answer, models.prices));
    return { text: secrets.redactor(scope.tenant).text(answer.text) };
  };
  return { generate, used: () => used };
}

/** The cost is known when that of each request is: one call asks one model. */
function sum(before: ModelUsage = { input_tokens: 0, output_tokens: 0 }, usage: ModelUsage): ModelUsage {
  const counted = Object.entries(usage).filter(([, count]) => count !== undefined);
  const sums = counted.map(([name, count]) => [name, (before[name as keyof ModelUsage] ?? 0) + count]);
  return { ...before, ...Object.fromEntries(sums) };
}

class PriceUnknownError extends Error {
  override name = 'PriceUnknownError';
  readonly code = 'ECOSTUNKNOWN';
  readonly retryable = false;
  readonly next = 'Have the operator set its price (HOLDPOINT_MODEL_PRICES), or use a limit in tokens.';

  constructor(model: string) {
    super(`The run has a limit in dollars, but no price is known of ${model}.`);
  }
}
