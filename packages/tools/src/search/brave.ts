import { z } from 'zod';
import { askJson, textOf } from './ask-json.ts';
import type { SearchPort } from './port.ts';

/** `WebSearchApiResponse`: https://api.search.brave.com/app/documentation/web-search/responses. Without any result there is no `web`. */
const answer = z
  .object({
    type: z.literal('search'),
    web: z
      .object({ results: z.array(z.object({ title: textOf(300), url: z.string(), description: textOf(1000) })) })
      .nullish(),
  })
  .transform(({ web }) => (web?.results ?? []).map(({ description: snippet, ...one }) => ({ ...one, snippet })));

/** Brave's Web Search API: https://api-dashboard.search.brave.com/api-reference/web/search/get. It gives at most 20 results. */
export function brave({ key, endpoint = 'https://api.search.brave.com/res/v1/web/search' }: Keyed): SearchPort {
  return {
    endpoint,
    async search(deps, { query, max_results }) {
      const url = new URL(endpoint);
      url.searchParams.set('q', query);
      url.searchParams.set('count', String(Math.min(max_results, 20)));
      url.searchParams.set('text_decorations', 'false');
      const headers = { accept: 'application/json', 'x-subscription-token': key };
      return askJson(deps, { name: 'Brave Search', key, answer }, { url: url.href, headers });
    },
  };
}

export interface Keyed {
  key: string;
  /** @default the address of the service */
  endpoint?: string | undefined;
}
