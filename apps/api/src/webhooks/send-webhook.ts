import type { LoggedEvent } from '@holdpoint/contract';
import { EgressError, openGuardedFetch } from '@holdpoint/egress';
import type { ReceiverState, Sent } from '@holdpoint/engine';
import type { Secrets } from '@holdpoint/secrets';
import { retryAfterOf } from '../push/send-push.ts';
import { guardOf } from '../push/subscriptions.ts';
import { settingsOf, signingSecrets } from './settings.ts';
import { signedHeaders } from './signing.ts';

export interface SendDeps {
  secrets: Pick<Secrets, 'logins'>;
  allowAddresses: readonly string[];
  /** Where people open the console, without a slash at its end. @default addresses in messages are paths */
  publicUrl?: string | undefined;
  now: () => number;
  /** Aborted when this process ends. */
  signal: AbortSignal;
}

export interface WebhookMessage {
  id: string;
  body: string;
}

/** Ids and a place to read from: a receiver that needs more asks the API with a key of its own. */
export function thinMessage(event: LoggedEvent, publicUrl = ''): WebhookMessage {
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
export async function sendWebhook(deps: SendDeps, receiver: ReceiverState, message: WebhookMessage): Promise<Sent> {
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

function judge(status: number, waitMs: number | undefined): Sent {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  const error = `it answered ${status}`;
  if (status === 410) return { outcome: 'gone', status, error };
  return { outcome: refusesEvent.has(status) ? 'event_failed' : 'receiver_failed', status, error, waitMs };
}

const wordsOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return (error instanceof EgressError ? `${error.code}: ${text}` : text).slice(0, 500);
};
