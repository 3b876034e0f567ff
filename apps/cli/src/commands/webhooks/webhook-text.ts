import type { DeliveryTry } from '@holdpoint/contract';
import type { Webhook } from '@holdpoint/contract/wire';
import { counted, pairs, plain } from '../../output/index.ts';
import { until } from '../../output/units.ts';

/** A webhook in lines for a person. */
export function webhookText(webhook: Webhook, now: number): string[] {
  const { off, failures, failing_since, next_try, pending, dropped, public_key, signs_with_both_until } = webhook;
  const labels = Object.entries(webhook.labels).map(([name, value]) => `${name}=${value}`);
  return pairs({
    webhook: `${webhook.name}, version ${webhook.version}, ${webhook.status}`,
    off: off && `by ${plain(off.by)} at ${off.at}${off.reason === undefined ? '' : `: ${plain(off.reason)}`}`,
    url: plain(webhook.url),
    events: webhook.events.map(plain).join('\n'),
    labels: labels.length === 0 ? null : labels.map(plain).join('\n'),
    signature: webhook.signature,
    'public key': public_key,
    'signs with both secrets': signs_with_both_until && `until ${signs_with_both_until}`,
    note: webhook.note === undefined ? null : plain(webhook.note),
    failing: failures > 0 ? `failed ${failures} times since ${failing_since}` : null,
    'next try': off === null && next_try !== null ? `${next_try} (${until(next_try, now)})` : null,
    'last error': webhook.last_error && plain(webhook.last_error),
    waiting: pending > 0 ? `events of ${counted(pending, 'run')}` : null,
    'left out': dropped > 0 ? `${counted(dropped, 'event')}: too many runs waited` : null,
    'last delivered': webhook.last_delivered,
  });
}

export function outcomeText({ outcome, status, error, redelivered }: DeliveryTry): string {
  const what = outcome === 'delivered' ? `delivered, ${status}` : `failed: ${plain(error ?? '')}`;
  return redelivered === true ? `${what} (sent again)` : what;
}
