import type { Problem } from '@holdpoint/contract';
import type { TextWork } from '../../text-work/text-work.ts';
import type { Network } from '../../tool.ts';

export interface SearchRequest {
  query: string;
  /** The most results to return. */
  max_results: number;
}

export interface SearchResult {
  title: string;
  /** The absolute address of the page itself, not of a page that counts clicks. */
  url: string;
  /** Empty when the engine shows none. */
  snippet: string;
}

/** An empty list means that the engine found nothing. An answer that cannot be read is an error. */
export type SearchAnswer = { ok: true; results: SearchResult[] } | { ok: false; error: Problem };

export interface SearchPort {
  /** The address of the engine. The run's allowlist must name its host. */
  endpoint: string;
  /**
   * Returns refusals as data: `ESEARCHBLOCKED` when the engine suspects a robot, `ESEARCHUNREADABLE` when the form of its page is unknown,
   * `EHTTPSTATUS`.
   *
   * @throws what `network.fetch` throws
   */
  search(
    deps: { network: Network; text: TextWork; signal: AbortSignal },
    request: SearchRequest,
  ): Promise<SearchAnswer>;
}
