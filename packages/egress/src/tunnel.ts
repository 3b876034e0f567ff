import type { Socket } from 'node:net';
import type { Passage } from './passage.ts';

/** Joins both sockets until both directions have ended. Either may end first. */
export function joinTunnel(passage: Passage, upstream: Socket, head: Buffer): void {
  const { client } = passage;
  for (const socket of [client, upstream]) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => passage.count(chunk.length));
  }
  if (head.length > 0) {
    passage.count(head.length);
    upstream.write(head);
  }
  client.pipe(upstream);
  upstream.pipe(client);
}
