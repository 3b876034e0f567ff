import { createRequire } from 'node:module';
import type { ModelAnswer } from './port.ts';

type Catalogue = typeof import('@pydantic/genai-prices');

/** Loaded on demand: the catalogue takes 0.15 s to load, and few programs ask about a model. */
let catalogue: Catalogue | undefined;
function prices(): Catalogue {
  catalogue ??= createRequire(import.meta.url)('@pydantic/genai-prices') as Catalogue;
  return catalogue;
}

export interface TableEntry extends ModelLimits {
  pdf?: boolean;
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
    pdf: limits?.images === true && readsPdf(`${known.provider}/${known.model}`),
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

/** Models with eyes read PDF files, except the ones from before their providers did (`pdf-bounds.ts` has the sources). */
const readsPdf = (name: string): boolean =>
  !/^(anthropic\/claude-3-(opus|sonnet|haiku)|openai\/gpt-4-turbo)/.test(name);

interface ModelLimits {
  window?: number;
  maxOutput?: number;
  images?: boolean;
}

/**
 * Facts missing in the catalogue of prices, by the beginning of the name; the first matching entry counts. Compared with the list of models in the npm package
 * @earendil-works/pi-ai 0.74.2; where the list and the providers' documentation differ, the smaller number stands. The operator's settings override both.
 */
const limits: readonly (readonly [start: string, limits: ModelLimits])[] = [
  ['openai/gpt-4.1', { window: 1_047_576, maxOutput: 32_768, images: true }],
  ['openai/gpt-4o-2024-05-13', { window: 128_000, maxOutput: 4096, images: true }],
  ['openai/gpt-4o', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/chatgpt-4o', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-4-turbo', { window: 128_000, maxOutput: 4096, images: true }],
  ['openai/gpt-4', { maxOutput: 4096, images: false }],
  ['openai/gpt-3.5', { window: 16_385, maxOutput: 4096, images: false }],
  ['openai/gpt-5-chat', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5.1-chat', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5.2-chat', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5.3-codex-spark', { window: 128_000, maxOutput: 32_000, images: true }],
  ['openai/gpt-5.3-codex', { maxOutput: 128_000, images: true }],
  ['openai/gpt-5.3', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5', { maxOutput: 128_000, images: true }],
  ['openai/gpt-6', { maxOutput: 128_000, images: true }],
  ['openai/o1-mini', { maxOutput: 65_536, images: false }],
  ['openai/o3-mini', { maxOutput: 100_000, images: false }],
  ['openai/o1', { maxOutput: 100_000, images: true }],
  ['openai/o3', { maxOutput: 100_000, images: true }],
  ['openai/o4', { maxOutput: 100_000, images: true }],
  ['anthropic/claude-opus-4-0', { maxOutput: 32_000, images: true }],
  ['anthropic/claude-opus-4-1', { maxOutput: 32_000, images: true }],
  ['anthropic/claude-opus-4-2', { maxOutput: 32_000, images: true }],
  ['anthropic/claude-opus-4-5', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-sonnet-4', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-haiku-4', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-3-7', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-3-5', { maxOutput: 8192, images: true }],
  ['anthropic/claude-3', { maxOutput: 4096, images: true }],
  ['anthropic/claude-2', { maxOutput: 4096, images: false }],
  ['anthropic/claude-', { maxOutput: 128_000, images: true }],
  ['google/gemini-2.0', { window: 1_048_576, maxOutput: 8192, images: true }],
  ['google/gemini-1', { window: 1_048_576, maxOutput: 8192, images: true }],
  ['google/gemini-', { window: 1_048_576, maxOutput: 65_536, images: true }],
];

/** @param name `provider/model` */
const limitsOf = (name: string): ModelLimits | undefined => limits.find(([start]) => name.startsWith(start))?.[1];

/** US dollars per million tokens, the same as millionths of a dollar per token. */
export interface ModelRates {
  input: number;
  output: number;
  /** Tokens read by the provider from its cache. @default `input` */
  cached_input?: number | undefined;
  /** Tokens written by the provider to its cache. @default `input` */
  cache_write?: number | undefined;
}
