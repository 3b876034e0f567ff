import type { DeliveryTry } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

export const webhookRequests = ({ ask }: Transport) => ({
  /** By name. */
  listWebhooks: async (options: ListOptions = {}): Promise<wire.Webhook[]> => {
    const { signal } = options;
    return entriesOf((await ask({ path: '/v1/webhooks', signal }, wire.webhookListSchema)).body, options);
  },

  async getWebhook(name: string, { signal }: Options = {}): Promise<wire.Webhook> {
    return (await ask({ path: at('webhooks', name), signal }, wire.webhookSchema)).body;
  },

  /** The secret of a new webhook is shown once. `created` is false when there was a webhook of this name. */
  async putWebhook(
    name: string,
    body: wire.PutWebhook,
    { signal }: Options = {},
  ): Promise<wire.WebhookWithSecret & { created: boolean }> {
    const path = at('webhooks', name);
    const answer = await ask({ method: 'PUT', path, body, signal }, wire.webhookWithSecretSchema);
    return { ...answer.body, created: answer.status === 201 };
  },

  async deleteWebhook(name: string, { signal }: Options = {}): Promise<wire.Webhook> {
    return (await ask({ method: 'DELETE', path: at('webhooks', name), signal }, wire.webhookSchema)).body;
  },

  /** Both secrets sign for 24 hours. */
  async rotateWebhook(name: string, { signal }: Options = {}): Promise<wire.WebhookWithSecret> {
    const path = at('webhooks', name, '/rotate');
    return (await ask({ method: 'POST', path, signal }, wire.webhookWithSecretSchema)).body;
  },

  /** Events wait until it is switched on. */
  async switchOffWebhook(name: string, reason?: string, { signal }: Options = {}): Promise<wire.Webhook> {
    const path = at('webhooks', name, '/off');
    return (await ask({ method: 'POST', path, body: { reason }, signal }, wire.webhookSchema)).body;
  },

  async switchOnWebhook(name: string, { signal }: Options = {}): Promise<wire.Webhook> {
    return (await ask({ method: 'POST', path: at('webhooks', name, '/on'), signal }, wire.webhookSchema)).body;
  },

  async testWebhook(name: string, { signal }: Options = {}): Promise<wire.WebhookTest> {
    return (await ask({ method: 'POST', path: at('webhooks', name, '/test'), signal }, wire.webhookTestSchema)).body;
  },

  /** Sends an event once more, under the same id. */
  async redeliverEvent(name: string, body: wire.Redeliver, { signal }: Options = {}): Promise<wire.Webhook> {
    const path = at('webhooks', name, '/redeliver');
    return (await ask({ method: 'POST', path, body, signal }, wire.webhookSchema)).body;
  },

  /** The last requests to its receiver, the newest first. */
  async listDeliveries(
    name: string,
    { limit }: { limit?: number | undefined } = {},
    { signal }: Options = {},
  ): Promise<DeliveryTry[]> {
    const path = at('webhooks', name, '/deliveries');
    return (await ask({ path, query: { limit }, signal }, wire.deliveryListSchema)).body.data;
  },
});
