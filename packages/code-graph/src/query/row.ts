import type { Json } from '@holdpoint/contract';
import type { View } from '../view/view.ts';

/** One result: a flat object. */
export type Row = Record<string, Json>;

/** What is asked of: the graph of a snapshot, as far as the run may read it. */
export interface Asked {
  view: View;
  isReadable(path: string): boolean;
}

/** Rows that belong together. Groups come sorted by key, so that an answer can be continued behind any row. */
export interface RowGroup {
  key: string;
  rows(): Iterable<Row>;
}

/** A question: what its parameters are, and the rows of its answer. */
export interface Question<Params> {
  parse(params: unknown): Params;
  groups(asked: Asked, params: Params): Iterable<RowGroup>;
}
