import type { Problem } from '@holdpoint/contract';

export interface SearchResult {
  title: string;
  /** The absolute address of the page itself, not of a page that counts clicks. */
  url: string;
  /** Empty when the engine shows none. */
  snippet: string;
}

/** An empty list means that the engine found nothing. An answer that cannot be read is an error. */
export type SearchAnswer = { ok: true; results: SearchResult[] } | { ok: false; error: Problem };
