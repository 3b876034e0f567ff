import { z } from 'zod';
import type { App, ServerDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

/** GET /metrics, for Prometheus: of this process and of the whole installation. */
export function readMetricsRoute(app: App, { metrics, metricsAccess }: ServerDeps): void {
  app.get(
    '/metrics',
    {
      // Prometheus must see the loss of Redis.
      config: { access: metricsAccess === 'open' ? 'open' : 'queues:admin', withoutRedis: true },
      logLevel: 'warn',
      schema: {
        tags: ['operations'],
        operationId: 'readMetrics',
        summary: 'Read the metrics of this process and of the whole installation',
        description:
          'Prometheus text, or OpenMetrics where the client accepts it. 404 unless HOLDPOINT_METRICS is set. HOLDPOINT_METRICS_ACCESS=open lets requests without a key read them. docs/metrics.md lists them.',
        response: { 200: { description: 'The metrics', content: { 'text/plain': { schema: z.string() } } } },
      },
    },
    async (request, reply) => {
      if (metricsAccess === 'off') {
        throw new ApiProblem('not_found', 'this API has no metrics', {
          next: 'Start it with HOLDPOINT_METRICS=on.',
        });
      }
      const { contentType, body } = await metrics.scrape(request.headers.accept);
      return reply.type(contentType).send(body);
    },
  );
}
