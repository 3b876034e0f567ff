import type { SearchPort, SearchRequest } from '../search/port.ts';
import type { ToolContext } from '../tool.ts';
import type { SearchResult } from '../web/search/answer.ts';
import type { Failure } from './cut-short.ts';
import { networkFailure, networkOff } from './network-fetch.ts';

/**
 * Asks a search engine and returns its refusals, and the network's refusals, as data. Throws every other error, and every error after an
 * abort.
 */
export async function searchWeb(
  { network, text, signal }: Pick<ToolContext, 'network' | 'text' | 'signal'>,
  search: SearchPort,
  request: SearchRequest,
): Promise<{ ok: true; results: SearchResult[] } | { ok: false; failure: Failure }> {
  if (!network) return { ok: false, failure: networkOff(search.endpoint) };
  try {
    const answer = await search.search({ network, text, signal }, request);
    return answer.ok ? answer : { ok: false, failure: { status: 'failed', error: answer.error } };
  } catch (error) {
    const refused = signal.aborted ? undefined : networkFailure(error);
    if (!refused) throw error;
    return { ok: false, failure: refused };
  }
}
