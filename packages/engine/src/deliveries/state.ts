import { deliveryOffSchema, eventFilterSchema } from '@holdpoint/contract';
import { z } from 'zod';

const time = z.iso.datetime({ offset: true });

/** A receiver as stored. Not strict: a later version may store more. */
export const receiverStateSchema = z.object({
  kind: z.enum(['webhooks']),
  name: z.string(),
  tenant: z.string(),
  version: z.int(),
  /** Events of a later version stay in the filter, and match nothing here. */
  filter: z.object({ events: z.array(z.string()), labels: eventFilterSchema.shape.labels }),
  /** What a sender of this kind needs. */
  settings: z.record(z.string(), z.unknown()),
  note: z.string().optional(),
  created_at: time,
  created_by: z.string(),
  changed_at: time,
  /** Earlier events are not sent. */
  since: time,
  off: deliveryOffSchema.optional(),
});
export type ReceiverState = z.output<typeof receiverStateSchema>;
type ReceiverKind = ReceiverState['kind'];

/** Names a receiver. */
export interface Receiver {
  kind: ReceiverKind;
  tenant: string;
  name: string;
}

/** No part has a slash. */
export const idOf = ({ kind, tenant, name }: Receiver): string => `${kind}/${tenant}/${name}`;

/** How a receiver does. Times in milliseconds since the epoch. */
export interface Health {
  /** Failed tries since the last success. */
  failures: number;
  failingSince: number | undefined;
  retryAt: number | undefined;
  lastDelivered: number | undefined;
  lastError: string | undefined;
  /** Runs with events that are not delivered yet. */
  pending: number;
  /** Events that found as many runs waiting as may wait. */
  dropped: number;
}
