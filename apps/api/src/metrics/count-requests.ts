import { METHODS } from 'node:http';
import { boundLabel, type Metrics } from '@holdpoint/telemetry';
import type { App } from '../deps.ts';

/** Times every request by its route. An unknown path has no route label: the client chooses the path. */
export function countRequests(app: App, metrics: Metrics): void {
  if (!metrics.isOn) return;
  const methodOf = boundLabel({ known: METHODS });
  let streams = 0;
  metrics.observe('streamClients', () => [{ value: streams }]);
  app.addHook('onSend', async (_request, reply) => {
    if (!isStream(reply.getHeader('content-type'))) return;
    streams++;
    reply.raw.once('close', () => streams--);
  });
  app.addHook('onResponse', async (request, reply) => {
    if (isStream(reply.getHeader('content-type'))) return;
    const route = request.routeOptions.url;
    metrics.record('httpDuration', reply.elapsedTime / 1000, {
      'http.request.method': methodOf(request.method),
      ...(route !== undefined && { 'http.route': route }),
      'http.response.status_code': String(reply.statusCode),
    });
  });
}

const isStream = (type: unknown): boolean => String(type).startsWith('text/event-stream');
