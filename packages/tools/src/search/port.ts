import type { Network } from '../network.ts';
import type { TextWork } from '../text-work/text-work.ts';
import type { SearchAnswer } from '../web/search/answer.ts';

export interface SearchRequest {
  query: string;
  /** The most results to return. */
  max_results: number;
}

export interface SearchPort {
  /** The address of the engine. The run's allowlist must name its host. */
  endpoint: string;
  /**
   * Returns refusals as data: `ESEARCHBLOCKED` when the engine suspects a robot, `ESEARCHUNREADABLE` when the form of its page is unknown,
   * `EHTTPSTATUS`.
   *
   * @throws the errors of `network.fetch`
   */
  search(
    deps: { network: Network; text: TextWork; signal: AbortSignal },
    request: SearchRequest,
  ): Promise<SearchAnswer>;
}
