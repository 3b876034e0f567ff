export interface Options {
  signal?: AbortSignal | undefined;
}
export interface PageQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** The path of an item in a collection. */
export const at = (collection: string, id: string, rest = ''): string =>
  `/v1/${collection}/${encodeURIComponent(id)}${rest}`;
