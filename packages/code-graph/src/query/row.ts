import type { Json } from '@holdpoint/contract';
import type { View } from '../view/view.ts';

/** A result: a flat object. */
export type Row = Record<string, Json>;

/** The subject of a question: the graph of a snapshot, within the run's permissions. */
export interface Asked {
  view: View;
  isReadable(path: string): boolean;
}

/** Rows of the same group. Groups are sorted by key: an answer can be continued behind any row. */
export interface RowGroup {
  key: string;
  rows(): Iterable<Row>;
}

/** A question: its parameters, and the rows of its answer. */
export interface Question<Params> {
  parse(params: unknown): Params;
  groups(asked: Asked, params: Params): Iterable<RowGroup>;
}
