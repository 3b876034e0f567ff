import { randomUUIDv7 } from 'node:crypto';
import * as wire from '@holdpoint/contract/wire';
import { receiverId } from '@holdpoint/engine';
import { type App, recordChange } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { findWebhook, toView } from './webhook-view.ts';

const tags = ['webhooks'];
const config = { access: 'webhooks:write' } as const;
const params = wire.webhookParamsSchema;

export function sendWebhooksRoutes(app: App): void {
  app.post(
    '/v1/webhooks/:name/test',
    {
      config,
      schema: {
        ...{ tags, operationId: 'testWebhook', summary: 'Send a test event to a webhook now', params },
        description:
          'An event of the type webhook.test, signed like all others. The answer says what the receiver answered.',
        response: { 200: wire.webhookTestSchema },
      },
    },
    async ({ params: { name }, deps }) => {
      const { state } = await findWebhook(deps, name);
      const begun = performance.now();
      const timestamp = new Date(deps.now()).toISOString();
      const body = JSON.stringify({ type: 'webhook.test', timestamp, data: { webhook: name } });
      const sent = await deps.webhooks.send(state, { id: `evt_${randomUUIDv7()}`, body });
      return {
        ...{ delivered: sent.outcome === 'delivered', status: sent.status ?? null, error: sent.error ?? null },
        ms: Math.round(performance.now() - begun),
      };
    },
  );

  app.post(
    '/v1/webhooks/:name/redeliver',
    {
      config,
      schema: {
        ...{ tags, operationId: 'redeliverEvent', summary: 'Send an event to a webhook once more', params },
        description:
          'Under the same id, whatever the filter says, and beside the order of its run. The deliveries show it.',
        body: wire.redeliverSchema,
        response: { 200: wire.webhookSchema },
      },
    },
    async ({ params: { name }, body: { run_id, seq }, deps }) => {
      const { state } = await findWebhook(deps, name);
      const [found] = await deps.engine.events.entries(run_id, { after: seq - 1, limit: 1 });
      if (found?.seq !== seq) throw new ApiProblem('event_not_found', `the run ${run_id} has no event ${seq}`);
      const id = receiverId(state);
      await deps.webhooks.store.markAgain(id, { run_id, seq, now: deps.now() });
      await deps.webhooks.wake(id);
      await recordChange(deps, { subject: `webhook/${name}`, action: 'redelivered', detail: { run_id, seq } });
      return toView(deps, state);
    },
  );
}
