/** US dollars per million tokens, which are millionths of a dollar per token. */
export interface ModelRates {
  input: number;
  output: number;
  /** Tokens that the provider reads from its cache. @default `input` */
  cached_input?: number | undefined;
  /** Tokens that the provider writes to its cache. @default `input` */
  cache_write?: number | undefined;
}

/** What is known of a model. */
export interface ModelFacts {
  /** Tokens of request and answer together. */
  window?: number | undefined;
  /** The most tokens of one answer. */
  maxOutput?: number | undefined;
  /** Whether it reads images. */
  images?: boolean | undefined;
  prices?: ModelRates | undefined;
  /** `operator`: at least one of the facts is set by the operator. */
  source: 'operator' | 'table' | 'unknown';
}

/** What the operator says of models, by `provider/model`, in which `*` stands for any text. */
export type ModelOverrides = Readonly<Record<string, Omit<ModelFacts, 'source'>>>;

/** What is known of the model `name`. The operator's word counts, then the table. */
export function describeModel(name: string, overrides: ModelOverrides): ModelFacts {
  const given = overrides[name];
  return given === undefined ? { source: 'unknown' } : { ...given, source: 'operator' };
}
