import { z } from 'zod';
import { askJson, textOf } from './ask-json.ts';
import type { SearchPort } from './port.ts';

const answer = z
  .object({ results: z.array(z.object({ title: textOf(300), url: z.string(), content: textOf(1000) })) })
  .transform(({ results }) => results.map(({ content: snippet, ...one }) => ({ ...one, snippet })));

/**
 * An instance of SearXNG, whose settings must have the format `json` (otherwise: HTTP 403). It has no number of results to ask for.
 * https://docs.searxng.org/dev/search_api.html
 *
 * @param options `endpoint`: for example `https://searx.example.org/search`
 */
export function searxng({ endpoint }: { endpoint: string }): SearchPort {
  return {
    endpoint,
    async search(deps, { query, max_results }) {
      const url = new URL(endpoint);
      url.searchParams.set('q', query);
      url.searchParams.set('format', 'json');
      const found = await askJson(
        deps,
        { name: 'SearXNG', answer },
        { url: url.href, headers: { accept: 'application/json' } },
      );
      return found.ok ? { ok: true, results: found.results.slice(0, max_results) } : found;
    },
  };
}
