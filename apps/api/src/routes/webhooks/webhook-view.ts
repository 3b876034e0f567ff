import type { Webhook } from '@holdpoint/contract/wire';
import { type ReceiverState, receiverId, type StoredReceiver } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { settingsOf } from '../../webhooks/settings.ts';

type Deps = Pick<ApiDeps, 'webhooks' | 'holder' | 'now'>;

export const receiverAt = ({ holder }: Pick<ApiDeps, 'holder'>, name: string) => ({
  ...{ kind: 'webhooks' as const, tenant: holder.caller.tenant, name },
});

export async function toView({ webhooks, now }: Deps, state: ReceiverState): Promise<Webhook> {
  const { url, signature, public_key, previous } = settingsOf(state);
  const health = await webhooks.store.health(receiverId(state));
  const { failures, failingSince, retryAt, lastDelivered, lastError, pending, dropped } = health;
  const signsWithBoth = previous !== undefined && Date.parse(previous.until) > now();
  return {
    ...{ name: state.name, version: state.version, url, ...state.filter, signature, note: state.note },
    status: state.off !== undefined ? 'off' : failures > 0 ? 'failing' : 'active',
    ...{ off: state.off ?? null, public_key: public_key ?? null },
    signs_with_both_until: signsWithBoth ? previous.until : null,
    ...{ created_at: state.created_at, created_by: state.created_by, changed_at: state.changed_at },
    ...{ pending, dropped, failures, failing_since: isoOf(failingSince), next_try: isoOf(retryAt) },
    ...{ last_delivered: isoOf(lastDelivered), last_error: lastError ?? null },
  };
}

const isoOf = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString());

/** @throws ApiProblem `webhook_not_found` */
export async function findWebhook(
  { webhooks, holder }: Pick<ApiDeps, 'webhooks' | 'holder'>,
  name: string,
): Promise<StoredReceiver> {
  const receiver = receiverAt({ holder }, name);
  const names = await webhooks.store.names(receiver);
  // Only a known name is a part of a key.
  const found = names.includes(name) ? await webhooks.store.find(receiverId(receiver)) : undefined;
  if (found !== undefined) return found;
  const known = names.length === 0 ? 'there are none' : `there is ${names.slice(0, 20).join(', ')}`;
  throw new ApiProblem('webhook_not_found', `there is no webhook ${JSON.stringify(name.slice(0, 100))}; ${known}`);
}
