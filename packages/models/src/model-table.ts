import { createRequire } from 'node:module';
import { limitsOf, type ModelLimits } from './model-limits.ts';
import type { ModelRates } from './model-rates.ts';
import type { ModelAnswer } from './port.ts';

type Catalogue = typeof import('@pydantic/genai-prices');

/** Loaded on demand: the catalogue takes 0.15 s to load, and few programs ask about a model. */
let catalogue: Catalogue | undefined;
function prices(): Catalogue {
  catalogue ??= createRequire(import.meta.url)('@pydantic/genai-prices') as Catalogue;
  return catalogue;
}

export interface TableEntry extends ModelLimits {
  prices?: ModelRates;
}

/** The table's facts about a model of OpenAI, Anthropic or Google. `undefined`: nothing. Other providers have no table. */
export function lookUpModel(name: string): TableEntry | undefined {
  const known = nameInTable(name);
  if (known === undefined) return undefined;
  const found = prices().calcPrice({ input_tokens: 0 }, known.model, { providerId: known.provider });
  const limits = limitsOf(`${known.provider}/${known.model}`);
  if (found === null && limits === undefined) return undefined;
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = found?.model_price ?? {};
  const [input, output] = [rate(input_mtok), rate(output_mtok)];
  return {
    ...{ window: found?.model.context_window, ...limits },
    ...(input !== undefined &&
      output !== undefined && {
        prices: { input, output, cached_input: rate(cache_read_mtok), cache_write: rate(cache_write_mtok) },
      }),
  };
}

/** Millionths of a dollar, with the higher prices of long requests. `undefined`: no price is known. */
export function tableCost(name: string, usage: ModelAnswer['usage']): number | undefined {
  const known = nameInTable(name);
  if (known === undefined) return undefined;
  const { input_tokens, output_tokens, cached_input_tokens = 0, cache_write_tokens = 0 } = usage;
  // A server may count more cached tokens than tokens.
  const cache_read_tokens = Math.min(cached_input_tokens, input_tokens);
  const tokens = {
    ...{ input_tokens, output_tokens, cache_read_tokens },
    cache_write_tokens: Math.min(cache_write_tokens, input_tokens - cache_read_tokens),
  };
  const found = prices().calcPrice(tokens, known.model, { providerId: known.provider });
  return found === null ? undefined : found.total_price * 1_000_000;
}

function nameInTable(name: string): { provider: string; model: string } | undefined {
  const [provider = '', model = ''] = [name.slice(0, name.indexOf('/')), name.slice(name.indexOf('/') + 1)];
  if (provider === 'openai' || provider === 'openai-chat') return { provider: 'openai', model };
  if (provider === 'anthropic' || provider === 'google') return { provider, model };
  return undefined;
}

/** The price of a short request. */
function rate(price: unknown): number | undefined {
  if (typeof price === 'number') return price;
  const base = (price as { base?: unknown } | undefined)?.base;
  return typeof base === 'number' ? base : undefined;
}
