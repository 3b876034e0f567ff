import type { RequestSpan, Traces } from '@holdpoint/telemetry';
import type { App } from './deps.ts';
import { traceContext } from './routes/runs/create-run.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined: no traces are exported, or the route is asked every few seconds. */
    span: RequestSpan | undefined;
  }
}

/** Each request is a span, in the trace of its caller. Its name is the route: a path has ids. */
export function traceRequests(app: App, traces: Traces | undefined): void {
  app.decorateRequest('span', undefined);
  if (traces === undefined) return;
  app.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions.url;
    if (polled.has(route ?? '')) return;
    const span = traces.request(request.method, traceContext(request));
    request.span = span;
    // Also of a stream whose client went away.
    reply.raw.once('close', () => span.end({ route, status: reply.statusCode }));
  });
}

const polled = new Set(['/healthz', '/readyz', '/metrics']);
