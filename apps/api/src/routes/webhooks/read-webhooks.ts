import * as wire from '@holdpoint/contract/wire';
import { receiverId } from '@holdpoint/engine';
import type { App } from '../../deps.ts';
import { showEach } from '../../errors/to-problem.ts';
import { findWebhook, receiverAt, toView } from './webhook-view.ts';

const tags = ['webhooks'];
const config = { access: 'webhooks:read' } as const;
const params = wire.webhookParamsSchema;

export function readWebhooksRoutes(app: App): void {
  app.get(
    '/v1/webhooks',
    {
      config,
      schema: {
        ...{ tags, operationId: 'listWebhooks', summary: 'List webhooks by name' },
        response: { 200: wire.webhookListSchema },
      },
    },
    async ({ deps }) => {
      const found = await deps.webhooks.store.list(receiverAt(deps, ''));
      return showEach(deps, found, { idOf: ({ state }) => state.name, show: ({ state }) => toView(deps, state) });
    },
  );

  app.get(
    '/v1/webhooks/:name',
    {
      config,
      schema: {
        ...{ tags, operationId: 'getWebhook', summary: 'Read a webhook', params },
        response: { 200: wire.webhookSchema },
      },
    },
    async ({ params: { name }, deps }) => toView(deps, (await findWebhook(deps, name)).state),
  );

  app.get(
    '/v1/webhooks/:name/deliveries',
    {
      config,
      schema: {
        ...{ tags, operationId: 'listDeliveries', params },
        summary: 'The last requests to the receiver of a webhook, the newest first',
        description: 'The last 200 are kept.',
        querystring: wire.deliveriesQuerySchema,
        response: { 200: wire.deliveryListSchema },
      },
    },
    async ({ params: { name }, query: { limit }, deps }) => {
      const { state } = await findWebhook(deps, name);
      return { data: await deps.webhooks.store.log(receiverId(state), limit) };
    },
  );
}
