import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoggedEvent } from '@holdpoint/contract';
import { EgressError, openGuardedFetch } from '@holdpoint/egress';
import * as engineApi from '@holdpoint/engine';
import type { Audit } from '@holdpoint/engine/audit';
import type { Secrets } from '@holdpoint/secrets';
import type { Metrics } from '@holdpoint/telemetry';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import { retryAfterOf } from '../push/send-push.ts';
import { guardOf } from '../push/subscriptions.ts';
import { settingsOf, signingSecrets } from './settings.ts';
import { signedHeaders } from './signing.ts';

interface SendDeps {
  secrets: Pick<Secrets, 'logins'>;
  allowAddresses: readonly string[];
  /** Where people open the console, without a slash at its end. @default addresses in messages are paths */
  publicUrl?: string | undefined;
  now: () => number;
  /** Aborted when this process ends. */
  signal: AbortSignal;
}

interface WebhookMessage {
  id: string;
  body: string;
}

/** Ids and a place to read from: a receiver that needs more asks the API with a key of its own. */
function thinMessage(event: LoggedEvent, publicUrl = ''): WebhookMessage {
  const { id, type, time, run_id, seq } = event;
  const { approval_id, task_id } = event.data as { approval_id?: unknown; task_id?: unknown };
  const data = {
    ...{ run_id, seq },
    ...('step_id' in event && event.step_id !== undefined && { step_id: event.step_id }),
    ...(typeof approval_id === 'string' && { approval_id }),
    ...(typeof task_id === 'string' && { task_id }),
    url: `${publicUrl}${typeof approval_id === 'string' ? `/approvals/${approval_id}` : `/runs/${run_id}`}`,
  };
  return { id, body: JSON.stringify({ type, timestamp: time, data }) };
}

const timeoutMs = 15_000;
/** Nothing reads the answer. More of it would only be waited for. */
const answerBytes = 4096;
/** They are about the content of a request; every other refusal would meet every event. */
const refusesEvent: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);

/** Sends a signed message. No redirect is followed, and no address outside the guard is contacted. */
async function sendWebhook(
  deps: SendDeps,
  receiver: engineApi.ReceiverState,
  message: WebhookMessage,
): Promise<engineApi.Sent> {
  try {
    const settings = settingsOf(receiver);
    const secrets = signingSecrets(deps.secrets, receiver.tenant, settings, deps.now());
    const headers = signedHeaders({ ...message, timestamp: Math.floor(deps.now() / 1000) }, secrets);
    const url = new URL(settings.url);
    await using web = openGuardedFetch({ guard: guardOf(url, deps.allowAddresses), onConnection: () => undefined });
    const answer = await web.fetch({
      ...{ url: url.href, method: 'POST', headers, body: message.body },
      limits: {
        ...{ body_bytes: answerBytes, wire_bytes: answerBytes, redirects: 0 },
        ...{ connect_ms: timeoutMs, first_byte_ms: timeoutMs, total_ms: timeoutMs },
      },
      mayFollow: () => false,
      signal: deps.signal,
    });
    return judge(answer.status, retryAfterOf(answer.headers['retry-after']));
  } catch (error) {
    if (deps.signal.aborted) return { outcome: 'stopped' };
    return { outcome: 'receiver_failed', error: wordsOf(error) };
  }
}

function judge(status: number, waitMs: number | undefined): engineApi.Sent {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  const error = `it answered ${status}`;
  if (status === 410) return { outcome: 'gone', status, error };
  return { outcome: refusesEvent.has(status) ? 'event_failed' : 'receiver_failed', status, error, waitMs };
}

const wordsOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return (error instanceof EgressError ? `${error.code}: ${text}` : text).slice(0, 500);
};

interface Deps extends Omit<SendDeps, 'signal'> {
  redis: Redis;
  subscriber: Redis;
  audit: Pick<Audit, 'record'>;
  metrics: Metrics;
  logger: Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Opens a connection for the worker of the queue. */
  connect: () => Redis;
  /** Between two looks for receivers whose wake-up was lost. */
  sweepMs: number;
}

/** The webhooks, as routes use them. */
export interface Webhooks {
  store: engineApi.DeliveryStore;
  allowAddresses: readonly string[];
  /** Has a receiver looked at, and events marked for it from now on. */
  wake(id: string): Promise<void>;
  /** Sends a message now, and keeps no record of it. */
  send(receiver: engineApi.ReceiverState, message: WebhookMessage): Promise<engineApi.Sent>;
}

export interface WebhookService extends Webhooks {
  /** Begins to send. */
  start(): void;
  stop(): Promise<void>;
}

const sweepLimit = 500;
const closeMs = 3000;

/**
 * Sends events to receivers. One API process marks events of all runs for their receivers, and every process sends; the stored state decides
 * what is due. The queue opens with the first receiver.
 */
export function openWebhooks(deps: Deps): WebhookService {
  const store = engineApi.openDeliveryStore(deps.redis);
  const ending = new AbortController();
  const sending = { ...deps, signal: ending.signal };
  let queue: engineApi.DeliveryQueue | undefined;
  let marking: ReturnType<typeof engineApi.startMarking> | undefined;
  let sweeping: Promise<void> | undefined;
  const wake = async (id: string, at = deps.now()): Promise<void> => {
    if (!ending.signal.aborted) await activate().wake(id, at);
  };
  const deliverDeps: engineApi.DeliverDeps = {
    ...{ redis: deps.redis, store, logger: deps.logger, now: deps.now, wake },
    send: (receiver, event) => sendWebhook(sending, receiver, thinMessage(event, deps.publicUrl)),
    onTry({ kind }, { outcome }, ms) {
      deps.metrics.count('deliveries', { kind, outcome });
      deps.metrics.record('deliveryDuration', Math.max(0, ms) / 1000, { kind });
    },
    onOff: (receiver) => reportOff(deps, receiver),
  };
  const activate = (): engineApi.DeliveryQueue => {
    marking ??= engineApi.startMarking({
      ...{ redis: deps.redis, subscriber: deps.subscriber, logger: deps.logger, store, now: deps.now },
      wake: async (ids) => void (await Promise.all(ids.map((id) => wake(id)))),
    });
    queue ??= engineApi.openDeliveryQueue({
      ...{ redis: deps.redis, connection: deps.connect(), now: deps.now },
      handle: (id) => engineApi.deliverTo(deliverDeps, id),
      onFailure: (id, error) => deps.logger.warn({ err: error, receiver: id }, 'a receiver is looked at again'),
    });
    return queue;
  };
  return {
    ...{ store, wake, allowAddresses: deps.allowAddresses },
    send: (receiver, message) => sendWebhook(sending, receiver, message),
    start() {
      observe(deps, store);
      sweeping ??= sweep({ ...deps, store, wake, activate }, ending.signal);
    },
    async stop() {
      ending.abort();
      await sweeping;
      await marking?.stop();
      // Without Redis the worker does not end. Another process takes its jobs.
      await Promise.race([queue?.close(), delay(closeMs)]);
    },
  };
}

interface Sweep extends Pick<Deps, 'now' | 'logger' | 'sweepMs'> {
  store: engineApi.DeliveryStore;
  wake: (id: string) => Promise<void>;
  activate: () => unknown;
}

async function sweep({ store, wake, activate, now, logger, sweepMs }: Sweep, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      if ((await store.count()) > 0 && !signal.aborted) activate();
      for (const id of await store.due(now(), sweepLimit)) await wake(id);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'receivers could not be read; they are read again');
    }
    await delay(sweepMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function reportOff({ audit, logger, now }: Deps, { name, tenant, kind, off }: engineApi.ReceiverState) {
  logger.error(
    { event: 'receiver_off', receiver: `${kind}/${tenant}/${name}`, reason: off?.reason },
    'a receiver is off',
  );
  await audit.record({
    ...{ id: `change_${randomUUIDv7()}`, time: new Date(now()).toISOString(), tenant },
    by: { name: 'holdpoint', kind: 'service' },
    ...{ subject: `webhook/${name}`, action: 'switched off', detail: { reason: off?.reason ?? '' } },
  });
}

function observe({ metrics }: Deps, store: engineApi.DeliveryStore): void {
  if (!metrics.isOn) return;
  const read = async () => {
    const { items } = await store.all();
    return Promise.all(
      items.map(async ({ state }) => ({ state, health: await store.health(engineApi.receiverId(state)) })),
    );
  };
  metrics.observe('receivers', async () => {
    const counts = { active: 0, failing: 0, off: 0 };
    for (const { state, health } of await read())
      counts[state.off !== undefined ? 'off' : health.failures > 0 ? 'failing' : 'active'] += 1;
    return Object.entries(counts).map(([state, value]) => ({ value, labels: { kind: 'webhooks', state } }));
  });
  metrics.observe('deliveriesPending', async () => {
    const value = (await read()).reduce((sum, { health }) => sum + health.pending, 0);
    return [{ value, labels: { kind: 'webhooks' } }];
  });
}
