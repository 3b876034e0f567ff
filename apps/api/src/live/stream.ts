import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ApiDeps } from '../deps.ts';

/**
 * Sends server-sent events until the frames end, the client goes away, or the server closes. The frames are pulled as fast as the client
 * reads them, so that a slow one costs a buffer of 64 KiB and no more.
 */
export function sendStream(
  deps: Pick<ApiDeps, 'closing'>,
  reply: FastifyReply,
  frames: (signal: AbortSignal) => AsyncGenerator<string>,
): FastifyReply {
  const stream = frames(AbortSignal.any([clientGone(reply), deps.closing]));
  return reply
    .headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies of the nginx kind hold back what is small, unless they are told.
      'x-accel-buffering': 'no',
      // After a stream nothing follows: a server that closes need not wait for the connection to become idle.
      connection: 'close',
    })
    .send(Readable.from(stream, { objectMode: false, highWaterMark: 64 * 1024 }));
}

/** Aborted when the connection of the request closes. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

/** One server-sent event. JSON text has no line breaks, so one `data` line holds it. */
export function frame(event: { event: string; id?: number; data: unknown }): string {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return `${id}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** A comment: keeps the connection, and says that the server is there. */
export const heartbeat = ': still here\n\n';
/** Sent at once, so that the client knows its stream is open; a browser comes back after a second. */
export const opening = 'retry: 1000\n: open\n\n';
