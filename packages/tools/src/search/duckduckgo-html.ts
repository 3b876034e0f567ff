import type { SearchPort } from './port.ts';

/**
 * DuckDuckGo's page for browsers without scripts. The page needs no key and no account, and sometimes refuses robots.
 *
 * @param options `endpoint`: the page, or a proxy with answers in the same form
 */
export function duckDuckGoHtml({ endpoint = 'https://html.duckduckgo.com/html/' } = {}): SearchPort {
  return {
    endpoint,
    async search({ network, text, signal }, { query, max_results }) {
      const url = new URL(endpoint);
      url.searchParams.set('q', query);
      const headers = { accept: 'text/html', 'accept-language': 'en' };
      const response = await network.fetch(
        { url: url.href, headers, max_bytes: maxBytes, timeout_ms: timeoutMs },
        signal,
      );
      const { body, headers: received, status, url: asked } = response;
      const contentType = received['content-type'] ?? '';
      const answer = await text.run('results', { body, contentType, status, url: asked });
      return answer.ok ? { ok: true, results: answer.results.slice(0, max_results) } : answer;
    },
  };
}

/** A page of results has about 40 KB. */
const maxBytes = 2 * 1024 * 1024;
const timeoutMs = 20_000;
