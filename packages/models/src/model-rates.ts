/** US dollars per million tokens, which are millionths of a dollar per token. */
export interface ModelRates {
  input: number;
  output: number;
  /** Tokens that the provider reads from its cache. @default `input` */
  cached_input?: number | undefined;
  /** Tokens that the provider writes to its cache. @default `input` */
  cache_write?: number | undefined;
}
