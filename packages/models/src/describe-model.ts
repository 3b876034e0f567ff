import { ModelError } from './errors.ts';
import { lookUpModel, type ModelRates, tableCost } from './model-table.ts';
import type { ModelAnswer } from './port.ts';

/** The known facts about a model. */
export interface ModelFacts {
  /** Tokens of request and answer together. */
  window?: number | undefined;
  /** The most tokens of an answer. */
  maxOutput?: number | undefined;
  /** Whether the model reads images. */
  images?: boolean | undefined;
  /** Whether the model reads PDF files. */
  pdf?: boolean | undefined;
  /** For short requests: some models cost more above a length. `costOf` counts the higher price. */
  prices?: ModelRates | undefined;
  /** `operator`: the operator has set at least one of these facts. */
  source: 'operator' | 'table' | 'unknown';
}

/** What a model sees, besides text. */
export interface Sight {
  images: boolean;
  pdf: boolean;
}

export const sightOf = ({ images = false, pdf = false }: ModelFacts): Sight => ({ images, pdf });

/** The operator's facts about models, by `provider/model`; `*` stands for any text. */
export type ModelOverrides = Readonly<Record<string, Omit<ModelFacts, 'source'>>>;

/** The facts about the model `name`: from the operator, else from the table. */
export function describeModel(name: string, overrides: ModelOverrides): ModelFacts {
  const given = overrideOf(name, overrides);
  const { window, maxOutput, images, pdf, prices, source } = tabled(name);
  if (given === undefined) return { window, maxOutput, images, pdf, prices, source };
  return {
    window: given.window ?? window,
    maxOutput: given.maxOutput ?? maxOutput,
    images: given.images ?? images,
    pdf: given.pdf ?? (given.images === false ? false : pdf),
    prices: given.prices ?? prices,
    source: 'operator',
  };
}

/** The cost of an answer, in millionths of a dollar. `undefined`: no price is known. */
export function costOf({ model, usage }: Pick<ModelAnswer, 'model' | 'usage'>, overrides: ModelOverrides) {
  const rates = overrideOf(model, overrides)?.prices;
  const cost = rates === undefined ? tableCost(model, usage) : flatCost(rates, usage);
  // A sum of binary fractions may end a little above a whole number.
  return cost === undefined ? undefined : Math.ceil(cost - 1e-6);
}

function flatCost(
  { input, output, cached_input = input, cache_write = input }: ModelRates,
  usage: ModelAnswer['usage'],
) {
  const cached = Math.min(usage.cached_input_tokens ?? 0, usage.input_tokens);
  const written = Math.min(usage.cache_write_tokens ?? 0, usage.input_tokens - cached);
  const plain = usage.input_tokens - cached - written;
  return plain * input + cached * cached_input + written * cache_write + usage.output_tokens * output;
}

function tabled(name: string): ModelFacts {
  const found = lookUpModel(name);
  return found === undefined ? { source: 'unknown' } : { ...found, source: 'table' };
}

/** The exact name; else the matching patterns, the longest first; each fact comes from the first pattern with the fact. */
function overrideOf(name: string, overrides: ModelOverrides): ModelOverrides[string] | undefined {
  const fitting = Object.keys(overrides)
    .filter((pattern) => pattern === name || (pattern.includes('*') && fits(pattern, name)))
    .sort((a, b) => Number(b === name) - Number(a === name) || b.length - a.length || (a < b ? -1 : 1));
  if (fitting.length === 0) return undefined;
  const found: Record<string, unknown> = {};
  for (const pattern of fitting) {
    for (const [fact, value] of Object.entries(overrides[pattern] ?? {})) found[fact] ??= value;
  }
  return found;
}

/** Finds each piece after the piece before, in linear time for any pattern. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** 128,000 tokens at 71 per second. */
export const defaultAnswerMs = 30 * 60_000;

interface AnswerLimit extends Disposable {
  /** Aborts when the time of the answer is over, with a ModelError. */
  signal: AbortSignal;
}

/** Begins the time that one answer may take, from its request to its last byte. */
export function limitAnswer(model: string, ms: number): AnswerLimit {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(tooLong(model, ms)), ms);
  return { signal: over.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

const tooLong = (model: string, ms: number): ModelError =>
  new ModelError({
    code: 'EMODELCUTOFF',
    message: `${model} did not end its answer within ${ms / 1000} s. No part of the answer was used.`,
    next: 'Ask again, ask for less at once, or use a faster model; raise HOLDPOINT_MODEL_ANSWER_MS for a model that needs longer.',
  });
