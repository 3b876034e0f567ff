import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

export const pushRequests = ({ ask, send }: Transport) => ({
  async getPushKey({ signal }: Options = {}): Promise<wire.PushKey> {
    return (await ask({ path: '/v1/push-key', signal }, wire.pushKeySchema)).body;
  },

  /** Pushes of approvals and ends of runs to a browser. The same browser again keeps its subscription. */
  async subscribeToPushes(body: wire.CreatePushSubscription, { signal }: Options = {}): Promise<wire.PushSubscription> {
    return (await ask({ method: 'POST', path: '/v1/push-subscriptions', body, signal }, wire.pushSubscriptionSchema))
      .body;
  },

  /** The subscriptions made with this key. */
  async listPushSubscriptions(options: ListOptions = {}): Promise<wire.PushSubscription[]> {
    const { body } = await ask(
      { path: '/v1/push-subscriptions', signal: options.signal },
      wire.pushSubscriptionListSchema,
    );
    return entriesOf(body, options);
  },

  async unsubscribeFromPushes(id: string, { signal }: Options = {}): Promise<void> {
    await (await send({ method: 'DELETE', path: at('push-subscriptions', id), signal })).text();
  },
});
