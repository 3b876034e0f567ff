import type { Page } from '@holdpoint/contract/wire';

export interface Options {
  signal?: AbortSignal | undefined;
}
/** A list without pages. */
export interface ListOptions extends Options {
  /** Gets the entries that the server could not read. */
  onDamaged?: ((damaged: NonNullable<Page<unknown>['damaged']>) => void) | undefined;
}
export interface PageQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** The path of an item in a collection. */
export const at = (collection: string, id: string, rest = ''): string =>
  `/v1/${collection}/${encodeURIComponent(id)}${rest}`;

/** The readable entries of a list. */
export function entriesOf<Item>(list: Pick<Page<Item>, 'data' | 'damaged'>, { onDamaged }: ListOptions): Item[] {
  if (list.damaged !== undefined) onDamaged?.(list.damaged);
  return list.data;
}
