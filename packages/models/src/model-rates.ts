/** US dollars per million tokens, the same as millionths of a dollar per token. */
export interface ModelRates {
  input: number;
  output: number;
  /** Tokens read by the provider from its cache. @default `input` */
  cached_input?: number | undefined;
  /** Tokens written by the provider to its cache. @default `input` */
  cache_write?: number | undefined;
}
