import type { Problem } from '@holdpoint/contract';

export interface SearchResult {
  title: string;
  /** The absolute address of the result page, not of a page for counting clicks. */
  url: string;
  /** Empty when the engine shows none. */
  snippet: string;
}

/** An empty list: the engine found nothing. An unreadable answer is an error. */
export type SearchAnswer = { ok: true; results: SearchResult[] } | { ok: false; error: Problem };
