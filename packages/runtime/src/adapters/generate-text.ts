import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelUsage, Problem, SecretScope } from '@holdpoint/contract';
import { costOf, describeModel, type Model, type ModelAnswer, type ModelOverrides } from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import type { GenerateRequest } from '@holdpoint/tools';
import { type Account, type ModelGate, outcomeOf } from '../model-gate/model-gate.ts';
import { redactErrors } from './redact-executor.ts';

/** Models for tools, with their prices and the gate of their providers. */
export interface ToolModels {
  model: Model;
  prices: ModelPrices;
  gate: ModelGate;
  accountOf(model: string): Account;
}

interface CallOfModel {
  runId: string;
  /** `provider/model`; undefined: the run has no model. */
  model: string | undefined;
  needsPrice: boolean;
  scope: SecretScope;
  wallMs: number;
  signal: AbortSignal;
  /** Records the tokens and the cost of a request. Must not reject. */
  onUse(use: { model: string; usage: ModelUsage }): Promise<void>;
}

/**
 * The model for one call of a tool. The use of a request is recorded before the tool has the answer: a dying worker loses the record of one
 * request at most. No value of a secret goes to the model or comes back.
 */
export function openGenerate({ models, secrets }: { models: ToolModels; secrets: Secrets }, call: CallOfModel) {
  const { model, scope, wallMs } = call;
  if (model === undefined) return undefined;
  return async ({ system = '', prompt, max_output_tokens }: GenerateRequest): Promise<{ text: string }> => {
    if (call.needsPrice && describeModel(model, models.prices).prices === undefined) throw new PriceUnknownError(model);
    const redactor = secrets.redactor(scope.tenant);
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(wallMs)]);
    const answer = await redactErrors(redactor, () =>
      throughGate(models, { model, runId: call.runId, signal }, () =>
        models.model.generate({
          model,
          system: redactor.text(system),
          messages: [{ role: 'user', text: redactor.text(prompt) }],
          tools: [],
          maxOutputTokens: max_output_tokens,
          // Writing to the cache costs more, and no later request reads the cached prompt.
          cache: false,
          signal,
        }),
      ),
    );
    await call.onUse({ model, usage: usageOf(answer, models.prices) });
    return { text: secrets.redactor(scope.tenant).text(answer.text) };
  };
}

/** A tool's call cannot sleep like a turn, so the call fails when a refusing provider stays closed for longer than this. */
const longestClosedMs = 30_000;
const longestNapMs = 1000;
/** No turn has this number, so a wake-up finds no job. The call asks the gate again at intervals. */
const noTurn = 0;

/** Waits at the gate of the model's provider, like the turns of all runs, and sends the request. @throws ProviderClosedError */
async function throughGate<Answer>(
  { gate, accountOf }: Pick<ToolModels, 'gate' | 'accountOf'>,
  { model, runId, signal }: { model: string; runId: string; signal: AbortSignal },
  request: () => Promise<Answer>,
): Promise<Answer> {
  const account = accountOf(model);
  for (;;) {
    const entry = await gate.enter(account, { runId, turn: noTurn });
    if (entry.kind === 'closed') {
      const { reason, closedMs, waitMs } = entry;
      if (reason !== undefined && closedMs > longestClosedMs) {
        throw new ProviderClosedError(reason);
      }
      await sleep(Math.min(waitMs, longestNapMs), undefined, { signal });
      continue;
    }
    try {
      const answer = await request();
      await entry.leave({ kind: 'ok' });
      return answer;
    } catch (error) {
      await entry.leave(outcomeOf(error));
      throw error;
    }
  }
}

/** The provider refused other requests and takes none for a while: no request was sent. */
class ProviderClosedError extends Error {
  override name = 'ProviderClosedError';
  readonly code: string;
  readonly retryable = true;
  readonly next = 'Try again later, or do it without the model.';

  constructor({ code, message }: Problem) {
    super(message);
    this.code = code;
  }
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

/** Facts about models from the operator. The operator's prices take precedence over the prices of the table. */
export type ModelPrices = ModelOverrides;

/** Tokens and, where the price of the model is known, their cost. */
export function usageOf(answer: Pick<ModelAnswer, 'model' | 'usage'>, prices: ModelPrices): ModelUsage {
  const cost_micros = costOf(answer, prices);
  return cost_micros === undefined ? answer.usage : { ...answer.usage, cost_micros };
}
