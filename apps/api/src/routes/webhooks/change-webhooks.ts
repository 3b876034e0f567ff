import { canonicalJson, deliveryNameSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { EgressError } from '@holdpoint/egress';
import { type ReceiverState, receiverId, type StoredReceiver } from '@holdpoint/engine';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { guardOf } from '../../push/subscriptions.ts';
import * as webhook from '../../webhooks/settings.ts';
import { findWebhook, receiverAt, toView } from './webhook-view.ts';

const resolveMs = 10_000;

/** @throws ApiProblem `invalid_webhook` */
function checkName(name: string): void {
  const { error } = deliveryNameSchema.safeParse(name);
  if (error !== undefined) throw invalid('/name', error.issues[0]?.message ?? 'not valid');
}

/**
 * A receiver has a public https address. An address in HOLDPOINT_ALLOW_ADDRESSES may be private, and, written as a number, without https.
 * @throws ApiProblem `invalid_webhook`
 */
async function checkUrl({ webhooks }: Pick<ApiDeps, 'webhooks'>, text: string): Promise<void> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalid('/url', 'it is not an https address');
  if (url.username !== '' || url.password !== '') throw invalid('/url', 'it holds a user name or a password');
  if (url.hash !== '') throw invalid('/url', 'it has a fragment, which is never sent');
  const isNumber = /^(\d+\.\d+\.\d+\.\d+|\[.*\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isNumber) throw invalid('/url', 'it is not an https address');
  const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
  try {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    await guardOf(url, webhooks.allowAddresses).check({ host, port }, AbortSignal.timeout(resolveMs));
  } catch (error) {
    const why =
      error instanceof EgressError ? `${error.message} ${error.next}` : 'its name could not be resolved in time';
    throw invalid('/url', why);
  }
}

function invalid(pointer: string, detail: string): ApiProblem {
  return new ApiProblem('invalid_webhook', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}

const tags = ['webhooks'];
const config = { access: 'webhooks:write' } as const;
const withSecret = { ...config, showsNewSecret: true } as const;
const params = wire.webhookParamsSchema;
const answer = { response: { 200: wire.webhookSchema } };

const dayMs = 86_400_000;

export function changeWebhooksRoutes(app: App): void {
  app.put(
    '/v1/webhooks/:name',
    {
      config: withSecret,
      schema: {
        ...{ tags, operationId: 'putWebhook', summary: 'Create or replace a webhook', params },
        description:
          'A new webhook gets the events from now on, and the answer has its secret, which is not shown again. A replaced one keeps its secret and what waits; another kind of signature makes a new secret.',
        body: wire.putWebhookSchema,
        response: { 201: wire.webhookWithSecretSchema, 200: wire.webhookWithSecretSchema },
      },
    },
    async ({ params: { name }, body, deps }, reply) => {
      checkName(name);
      await checkUrl(deps, body.url);
      const { state, outcome, secret } = await put(deps, name, body);
      if (outcome !== 'same') await changed(deps, state, outcome);
      reply.header('location', `/v1/webhooks/${name}`);
      const shown = { webhook: await toView(deps, state), secret: secret ?? null };
      return reply.code(outcome === 'created' ? 201 : 200).send(shown);
    },
  );

  app.delete(
    '/v1/webhooks/:name',
    {
      config,
      schema: {
        ...{ tags, operationId: 'deleteWebhook', summary: 'Delete a webhook', params, ...answer },
        description: 'What waits for it is not sent. The answer is the webhook as it was.',
      },
    },
    async ({ params: { name }, deps }) => {
      for (;;) {
        const { state, revision } = await findWebhook(deps, name);
        const view = await toView(deps, state);
        if ((await deps.webhooks.store.remove(state, revision)) !== 'stored') continue;
        await webhook.removeUnused(deps.secrets, state, []);
        await record(deps, state, 'deleted');
        return view;
      }
    },
  );

  app.post(
    '/v1/webhooks/:name/rotate',
    {
      config: withSecret,
      schema: {
        ...{ tags, operationId: 'rotateWebhook', summary: 'Give a webhook a new secret', params },
        description: 'Both secrets sign for 24 hours. The answer has the new one, which is not shown again.',
        response: { 200: wire.webhookWithSecretSchema },
      },
    },
    async ({ params: { name }, deps }) => {
      let secret: string | undefined;
      const state = await alter(deps, name, 'rotated', async (found) => {
        const settings = webhook.settingsOf(found);
        const made = await webhook.storeNewSecret(deps.secrets, found, settings.signature);
        secret = shownSecret(made);
        const until = new Date(deps.now() + dayMs).toISOString();
        const previous = { secret: settings.secret, until };
        return { settings: { ...settings, secret: made.entry, public_key: made.publicKey, previous } };
      });
      await webhook.removeUnused(deps.secrets, state, webhook.entriesOf(webhook.settingsOf(state)));
      return { webhook: await toView(deps, state), secret: secret ?? null };
    },
  );

  app.post(
    '/v1/webhooks/:name/off',
    {
      config,
      schema: {
        ...{ tags, operationId: 'switchOffWebhook', summary: 'Switch a webhook off', params, ...answer },
        description: 'Nothing is sent until it is switched on. Events wait for it.',
        body: wire.webhookOffSchema,
      },
    },
    async ({ params: { name }, body: { reason }, deps }) => {
      const off = { at: isoNow(deps), by: deps.holder.caller.name, ...(reason !== undefined && { reason }) };
      const state = await alter(deps, name, 'switched off', async (found) =>
        found.off === undefined ? { off } : undefined,
      );
      return toView(deps, state);
    },
  );

  app.post(
    '/v1/webhooks/:name/on',
    {
      config,
      schema: {
        ...{ tags, operationId: 'switchOnWebhook', summary: 'Switch a webhook on', params, ...answer },
        description:
          'What waits is sent now, in order. Failures are forgotten, also those of a webhook that is not off.',
      },
    },
    async ({ params: { name }, deps }) =>
      toView(deps, await alter(deps, name, 'switched on', async () => ({ off: undefined }), { fresh: true })),
  );
}

interface Put {
  state: ReceiverState;
  outcome: 'created' | 'changed' | 'same';
  secret?: string | undefined;
}

async function put(deps: ApiDeps, name: string, body: wire.PutWebhookBody): Promise<Put> {
  const receiver = receiverAt(deps, name);
  for (;;) {
    const found = await deps.webhooks.store.find(receiverId(receiver));
    if (found !== undefined && isSame(found.state, body)) return { state: found.state, outcome: 'same' };
    const before = found && webhook.settingsOf(found.state);
    const made =
      before?.signature === body.signature
        ? undefined
        : await webhook.storeNewSecret(deps.secrets, receiver, body.signature);
    const signing = made === undefined ? { ...before } : { secret: made.entry, public_key: made.publicKey };
    const state: ReceiverState = {
      ...(found?.state ?? {
        ...receiver,
        created_at: isoNow(deps),
        created_by: deps.holder.caller.name,
        since: isoNow(deps),
      }),
      version: (found?.state.version ?? 0) + 1,
      filter: { events: body.events, labels: body.labels },
      settings: { ...signing, url: body.url, signature: body.signature },
      ...{ note: body.note, changed_at: isoNow(deps) },
    };
    if (!(await stored(deps, found, state))) continue;
    await webhook.removeUnused(deps.secrets, state, webhook.entriesOf(webhook.settingsOf(state)));
    return { state, outcome: found === undefined ? 'created' : 'changed', secret: made && shownSecret(made) };
  }
}

/** The private key of v1a stays here: the receiver has the public key. */
const shownSecret = ({ secret, publicKey }: { secret: string; publicKey: string | undefined }): string | undefined =>
  publicKey === undefined ? secret : undefined;

function isSame(state: ReceiverState, { events, labels, url, signature, note }: wire.PutWebhookBody): boolean {
  const settings = webhook.settingsOf(state);
  const is = { ...state.filter, url: settings.url, signature: settings.signature, note: state.note };
  return canonicalJson(is) === canonicalJson({ events, labels, url, signature, note });
}

/** Changes a webhook. @param to undefined: it is so already */
async function alter(
  deps: ApiDeps,
  name: string,
  action: string,
  to: (state: ReceiverState) => Promise<Partial<ReceiverState> | undefined>,
  options: { fresh?: boolean } = {},
): Promise<ReceiverState> {
  for (;;) {
    const found = await findWebhook(deps, name);
    const change = await to(found.state);
    if (change === undefined) return found.state;
    const { version } = found.state;
    const state = { ...found.state, ...change, changed_at: isoNow(deps), version: version + 1 };
    if (!(await stored(deps, found, state, options))) continue;
    await changed(deps, state, action);
    return state;
  }
}

/** @throws ApiProblem `too_many_webhooks` */
async function stored(
  { webhooks, now }: ApiDeps,
  before: StoredReceiver | undefined,
  state: ReceiverState,
  options: { fresh?: boolean } = {},
): Promise<boolean> {
  const after = before?.revision;
  const outcome = await webhooks.store.put(state, { ...options, now: now(), ...(after !== undefined && { after }) });
  if (outcome === 'full') throw new ApiProblem('too_many_webhooks', 'the tenant has as many webhooks as it may have');
  return outcome === 'stored';
}

async function changed(deps: ApiDeps, state: ReceiverState, action: string): Promise<void> {
  await deps.webhooks.wake(receiverId(state));
  await record(deps, state, action);
}

const isoNow = ({ now }: ApiDeps): string => new Date(now()).toISOString();

const record = (deps: ApiDeps, { name, version }: ReceiverState, action: string): Promise<void> =>
  recordChange(deps, { subject: `webhook/${name}`, action, detail: { version } });
