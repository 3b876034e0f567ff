import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  type: string;
  data: { run_id: string; seq: number; url: string } & Record<string, unknown>;
}

/** A receiver of webhooks on this machine. It keeps the requests that it answered with 2xx apart from the others. */
export async function startReceiver() {
  const received: Received[] = [];
  let asked = 0;
  let answer = (_: Received, response: ServerResponse): void => void response.writeHead(204).end();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const one = { headers: request.headers, body, ...(JSON.parse(body) as Pick<Received, 'type' | 'data'>) };
    asked += 1;
    answer(one, response);
    if (response.statusCode < 300) received.push(one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    asked: () => asked,
    /** Answers all requests from now on. */
    answer(how: number | typeof answer, headers: Record<string, string> = {}): void {
      answer = typeof how === 'number' ? (_, response) => void response.writeHead(how, headers).end() : how;
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
