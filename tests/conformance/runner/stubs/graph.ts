import { createServer } from 'node:http';
import type { Json } from '@holdpoint/contract';
import type { GraphStub } from '../case.ts';
import { bodyOf, listen, type Stub } from './http.ts';

/** A graph adapter: POST {query, params?, commit?} answers {results}, or 500 {error}. */
export interface GraphServer extends Stub {
  url: string;
  answer(stub: GraphStub): void;
}

export async function openGraphStub(): Promise<GraphServer> {
  let stub: GraphStub = { results: [] };
  const server = createServer(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    const { query, params, commit } = JSON.parse(body || '{}') as Record<string, Json>;
    if ('throws' in stub) {
      response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: stub.throws }));
      return;
    }
    const results = 'echo' in stub ? [{ query, params: params ?? null, commit: commit ?? null }] : stub.results;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
  });
  const opened = await listen(server);
  return {
    ...opened,
    url: `http://127.0.0.1:${opened.port}/`,
    answer: (next) => {
      stub = next;
    },
  };
}
