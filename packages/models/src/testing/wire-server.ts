import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export { eventsOf } from './events.ts';

export interface WireAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** The exact bytes of the body. */
  body: string;
  /** `dropped`: announces more bytes than it sends and closes the connection. `ended`: ends the body normally at that point. `silent`: keeps the connection open. */
  cut?: 'dropped' | 'ended' | 'silent';
  /** Sent after the body, again and again, until the client is gone. */
  endless?: string;
  /** Milliseconds between two pieces of an endless body. @default as fast as the client reads */
  everyMs?: number;
  /** Called instead of sending an answer. */
  held?: () => void;
}

export interface WireServer extends AsyncDisposable {
  url: string;
  /** The parsed bodies of all requests so far. */
  requests: unknown[];
}

/**
 * A loopback server that sends prepared answers in order, byte for byte, for faults that aimock does not produce: aimock always writes
 * well-formed call arguments and never half a body. The last answer is repeated.
 */
export async function openWireServer(...answers: readonly WireAnswer[]): Promise<WireServer> {
  const requests: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    if (answer === undefined) throw new Error('no answer was prepared');
    requests.push(JSON.parse(Buffer.concat(chunks).toString()));
    if (answer.held) return answer.held();
    const length = answer.cut === 'dropped' ? { 'content-length': String(answer.body.length + 100) } : {};
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...length, ...answer.headers });
    if (answer.cut === 'dropped') response.write(answer.body, () => response.destroy());
    else if (answer.cut === 'silent') response.write(answer.body);
    else if (answer.endless !== undefined) await writeForEver(response, answer);
    else response.end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function writeForEver(response: ServerResponse, { body, endless = '', everyMs }: WireAnswer): Promise<void> {
  response.write(body);
  const closed = once(response, 'close');
  while (!response.destroyed) {
    if (everyMs !== undefined) await Promise.race([wait(everyMs), closed]);
    if (!response.write(endless)) await Promise.race([once(response, 'drain'), closed]);
  }
}
