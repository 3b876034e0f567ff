import { createServer } from 'node:http';
import type { Hit } from '../case.ts';
import { listen, type Stub } from './http.ts';

/** A search engine in the form of HOLDPOINT_SEARCH_ENDPOINT. */
export interface SearchStub extends Stub {
  url: string;
  find(hits: readonly Hit[]): void;
}

export async function openSearchStub(): Promise<SearchStub> {
  let found: readonly Hit[] = [];
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(found));
  });
  const stub = await listen(server);
  return {
    ...stub,
    url: `http://127.0.0.1:${stub.port}/html/`,
    find: (hits) => {
      found = hits;
    },
  };
}

const page = (hits: readonly Hit[]): string =>
  `<!doctype html><html><body>${hits.length === 0 ? '<div class="no-results">No results.</div>' : hits.map(result).join('')}</body></html>`;

const result = ({ title, url, snippet }: Hit): string =>
  `<div class="result"><h2><a class="result__a" href="${escaped(url)}">${escaped(title)}</a></h2><a class="result__snippet">${escaped(snippet)}</a></div>`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
