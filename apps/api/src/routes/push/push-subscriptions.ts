import * as wire from '@holdpoint/contract/wire';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { checkEndpoint, checkKeys, PushError, type StoredSubscription } from '../../push/subscriptions.ts';
import { emptyAnswer } from '../../schema/empty.ts';

const tags = ['pushes'];
const config = { access: 'any key' } as const;

/** Browsers that want pushes of approvals and ends of runs. */
export function pushSubscriptionsRoutes(app: App): void {
  app.get(
    '/v1/push-key',
    {
      config,
      schema: {
        tags,
        operationId: 'getPushKey',
        summary: 'Read the key that a browser subscribes with',
        response: { 200: wire.pushKeySchema },
      },
    },
    async ({ deps }) => ({ public_key: deps.push.publicKey }),
  );

  app.get(
    '/v1/push-subscriptions',
    {
      config,
      schema: {
        tags,
        operationId: 'listPushSubscriptions',
        summary: 'List the push subscriptions of your key',
        response: { 200: wire.pushSubscriptionListSchema },
      },
    },
    async ({ deps }) => ({ data: (await deps.push.subscriptions.list(deps.holder.keyId)).map(toSubscription) }),
  );

  app.post(
    '/v1/push-subscriptions',
    {
      config,
      schema: {
        tags,
        operationId: 'subscribeToPushes',
        summary: 'Send pushes to a browser',
        description:
          'About approvals (with approvals:read) and ends of runs (with runs:read) of your tenant, from now on. A push has the tool, the title of the run, the risk and the address, and no arguments. The subscription ends with your key, and when the push service says that the browser is gone.',
        body: wire.createPushSubscriptionSchema,
        response: { 201: wire.pushSubscriptionSchema },
      },
    },
    async ({ body, deps, headers: { origin } }, reply) => {
      const stored = await subscribe(deps, body, origin).catch(asProblem);
      await recordChange(deps, { subject: `push/${stored.id}`, action: 'subscribed', detail: aboutOf(stored) });
      return reply.code(201).send(toSubscription(stored));
    },
  );

  app.delete(
    '/v1/push-subscriptions/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'unsubscribeFromPushes',
        summary: 'Send no more pushes to a browser',
        params: wire.idParamsSchema,
        response: { 204: emptyAnswer },
      },
    },
    async ({ params: { id }, deps }, reply) => {
      const stored = (await deps.push.subscriptions.list(deps.holder.keyId)).find((one) => one.id === id);
      if (stored === undefined)
        throw new ApiProblem('push_subscription_not_found', `your key has no push subscription ${id}`);
      await deps.push.subscriptions.forget(stored);
      await recordChange(deps, { subject: `push/${id}`, action: 'unsubscribed', detail: aboutOf(stored) });
      return reply.code(204).send();
    },
  );
}

async function subscribe(
  { push, holder }: ApiDeps,
  body: wire.CreatePushSubscription,
  origin: string | undefined,
): Promise<StoredSubscription> {
  checkKeys(body.keys);
  await checkEndpoint(body.endpoint, push.allowAddresses);
  const stored = await push.subscriptions.add(holder, body, origin?.startsWith('https:') ? origin : undefined);
  push.activate();
  return stored;
}

function asProblem(error: unknown): never {
  if (!(error instanceof PushError)) throw error;
  const { code, message: detail, pointer } = error;
  throw new ApiProblem(code, detail, pointer === undefined ? {} : { errors: [{ pointer, detail }] });
}

/** Who knows an endpoint and its keys can send pushes to the browser: the audit log has the host alone. */
const aboutOf = ({ key_id, endpoint }: StoredSubscription) => ({ key: key_id, host: new URL(endpoint).host });

const toSubscription = ({ id, endpoint, created_at }: StoredSubscription): wire.PushSubscription => ({
  id,
  endpoint,
  created_at,
});
