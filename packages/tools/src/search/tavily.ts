import { z } from 'zod';
import { askJson, textOf } from './ask-json.ts';
import type { Keyed } from './brave.ts';
import type { SearchPort } from './port.ts';

const answer = z
  .object({ results: z.array(z.object({ title: textOf(300), url: z.string(), content: textOf(2000) })) })
  .transform(({ results }) => results.map(({ content: snippet, ...one }) => ({ ...one, snippet })));

/** Tavily's search: https://docs.tavily.com/api-reference/endpoint/search and https://tavily.com/.well-known/openapi.json. */
export function tavily({ key, endpoint = 'https://api.tavily.com/search' }: Keyed): SearchPort {
  return {
    endpoint,
    search: (deps, { query, max_results }) =>
      askJson(
        deps,
        { name: 'Tavily', key, answer },
        {
          url: endpoint,
          method: 'POST',
          headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${key}` },
          body: JSON.stringify({ query, max_results: Math.min(max_results, 20) }),
        },
      ),
  };
}
