import type { Problem } from '@holdpoint/contract';
import type { TextWork } from '../../text-work/text-work.ts';
import type { Network } from '../../tool.ts';

export interface SearchRequest {
  query: string;
  /** At most so many come back. */
  max_results: number;
}

export interface SearchResult {
  title: string;
  /** Absolute, of the page itself and not of a page that counts clicks. */
  url: string;
  /** Empty when the engine shows none. */
  snippet: string;
}

/** An empty list says that the engine found nothing, never that its answer was not understood. */
export type SearchAnswer = { ok: true; results: SearchResult[] } | { ok: false; error: Problem };

/** A search engine. */
export interface SearchPort {
  /** What is asked; its host must be on the run's allowlist like any other. */
  endpoint: string;
  /**
   * Refusals come back as data: `ESEARCHBLOCKED` when the engine takes us for a robot, `ESEARCHUNREADABLE` when its page is not as it
   * was, `EHTTPSTATUS`.
   *
   * @throws what `network.fetch` throws
   */
  search(
    deps: { network: Network; text: TextWork; signal: AbortSignal },
    request: SearchRequest,
  ): Promise<SearchAnswer>;
}
