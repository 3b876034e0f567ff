import type { DeliveryTry } from '@holdpoint/contract';
import type { Webhook, WebhookTest } from '@holdpoint/contract/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';

const queryKey = ['webhooks'];
const at = (name: string, rest = ''): string => `/v1/webhooks/${encodeURIComponent(name)}${rest}`;
/** No event reports a delivery, so the pages ask. */
const rereadMs = 10_000;

export const useWebhookList = () =>
  useQuery({
    queryKey,
    queryFn: ({ signal }) => ask<{ data: Webhook[] }>({ path: '/v1/webhooks', signal }),
    refetchInterval: rereadMs,
  });

export const useWebhook = (name: string) =>
  useQuery({
    queryKey: [...queryKey, name],
    queryFn: ({ signal }) => ask<Webhook>({ path: at(name), signal }),
    refetchInterval: rereadMs,
  });

export const useDeliveries = (name: string) =>
  useQuery({
    queryKey: [...queryKey, name, 'deliveries'],
    queryFn: ({ signal }) => ask<{ data: DeliveryTry[] }>({ path: at(name, '/deliveries'), signal }),
    refetchInterval: rereadMs,
  });

/** Sends requests, and reads the webhooks again, whatever the answer. */
export function useSteer(name: string) {
  const queries = useQueryClient();
  const reread = () => queries.invalidateQueries({ queryKey });
  return {
    turn: (to: 'on' | 'off') =>
      ask<Webhook>({ method: 'POST', path: at(name, `/${to}`), ...(to === 'off' && { body: {} }) }).finally(reread),
    test: () => ask<WebhookTest>({ method: 'POST', path: at(name, '/test') }).finally(reread),
  };
}
