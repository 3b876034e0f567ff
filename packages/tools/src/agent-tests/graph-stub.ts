import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '@holdpoint/contract';

export interface AskedGraph {
  query: string;
  params?: Record<string, Json>;
  commit?: string;
}

/** A graph on loopback in the form of `HOLDPOINT_GRAPH_ENDPOINT`. A disposal closes the stub. */
export interface GraphStub extends AsyncDisposable {
  endpoint: string;
  /** Every request, in order. */
  asked: readonly AskedGraph[];
}

/** @param answer the results, or a function of the request; an error of the function is the error of the graph */
export async function graphStub(
  answer: readonly Json[] | ((asked: AskedGraph) => readonly Json[]),
): Promise<GraphStub> {
  const asked: AskedGraph[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      const one = JSON.parse(Buffer.concat(chunks).toString()) as AskedGraph;
      asked.push(one);
      const results = typeof answer === 'function' ? answer(one) : answer;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: message }));
    }
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
