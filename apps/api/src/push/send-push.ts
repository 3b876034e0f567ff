import { createHash } from 'node:crypto';
import { openGuardedFetch } from '@holdpoint/egress';
import { guardOf, type StoredSubscription } from './subscriptions.ts';
import type { VapidKeys } from './vapid-keys.ts';

export interface Push {
  text: Record<string, string>;
  /** A push service replaces a push that it still holds by a later one with the same topic. */
  topic: string;
  urgency: 'high' | 'normal';
  ttlS: number;
}

export interface SendDeps {
  vapid: VapidKeys;
  /** `mailto:` or `https:`: the address of the operator, for a push service to write to. */
  contact?: string | undefined;
  allowAddresses: readonly string[];
}

/** `gone`: the browser has unsubscribed. `refused`: another try would be refused, too. */
export type Sent = { outcome: 'sent' | 'gone' | 'refused'; status: number };

/** The push service cannot take the push now. */
class PushDelayed extends Error {
  override readonly name = 'PushDelayed';
  /** By Retry-After. */
  readonly retryAfterMs?: number;

  constructor(status: number, retryAfterMs: number | undefined) {
    super(`the push service answered ${status}`);
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Sends a push, encrypted for the browser (RFC 8291). No redirect is followed, and no address outside the guard is contacted.
 * @throws PushDelayed, EgressError: try again later
 */
export async function sendPush(
  deps: SendDeps & { signal: AbortSignal },
  subscription: StoredSubscription,
  push: Push,
): Promise<Sent> {
  const { headers, body } = await encrypt(deps, subscription, push);
  const url = new URL(subscription.endpoint);
  await using web = openGuardedFetch({ guard: guardOf(url, deps.allowAddresses), onConnection: () => undefined });
  const answer = await web.fetch({
    ...{ url: url.href, method: 'POST', headers, body },
    limits: { body_bytes: 16_384, wire_bytes: 16_384, total_ms: 30_000, redirects: 0 },
    mayFollow: () => false,
    signal: deps.signal,
  });
  const { status } = answer;
  if (status === 429 || status >= 500) throw new PushDelayed(status, retryAfterOf(answer.headers['retry-after']));
  if (status === 404 || status === 410) return { outcome: 'gone', status };
  return { outcome: status < 300 ? 'sent' : 'refused', status };
}

async function encrypt({ vapid, contact }: SendDeps, subscription: StoredSubscription, push: Push) {
  const { endpoint, keys, origin } = subscription;
  // A lazy import: only an installation with subscriptions needs it.
  const { default: webPush } = await import('web-push');
  const { headers, body } = webPush.generateRequestDetails({ endpoint, keys }, JSON.stringify(push.text), {
    vapidDetails: { subject: contact ?? origin ?? noContact, ...vapid },
    ...{ TTL: push.ttlS, urgency: push.urgency, contentEncoding: 'aes128gcm' },
    topic: createHash('sha256').update(push.topic).digest('base64url').slice(0, 32),
  });
  // The client sets the length itself.
  const given = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length');
  return { headers: Object.fromEntries(given.map(([name, value]) => [name, String(value)])), body };
}

/** For pages of this machine without https. Some push services refuse the address: the address of an operator is better. */
const noContact = 'mailto:operator@holdpoint.invalid';

/** Milliseconds, from seconds or a date. */
export function retryAfterOf(header: string | string[] | undefined): number | undefined {
  const text = [header].flat()[0];
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 1000) : undefined;
}
