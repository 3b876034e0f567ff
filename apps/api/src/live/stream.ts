import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ApiDeps } from '../deps.ts';

/**
 * Sends server-sent events until the frames end, the client goes away, or the server closes. The stream pulls frames as fast as the
 * client reads them, so a slow client costs a buffer of 64 KiB.
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
      // nginx buffers small answers without this header.
      'x-accel-buffering': 'no',
      // Without keep-alive a closing server need not wait for the connection to become idle.
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

/** A comment that keeps the connection open. */
export const heartbeat = ': still here\n\n';
/** Sent at once, so that the client knows that its stream is open. A browser reconnects after a second. */
export const opening = 'retry: 1000\n: open\n\n';
