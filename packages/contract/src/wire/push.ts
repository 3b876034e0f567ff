import { z } from 'zod';
import { listOf } from './page.ts';

/** base64url without padding, of a length in characters. */
const keyOf = (length: number) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${length}}$`), `expected ${length} characters of base64url`);

/** POST /v1/push-subscriptions: a `PushSubscription` of a browser, as `toJSON` gives it. */
export const createPushSubscriptionSchema = z.strictObject({
  endpoint: z.string().max(2000).describe('A public https address'),
  expirationTime: z.number().nullish().describe('Ignored: the push service says when the subscription is gone'),
  keys: z.strictObject({ p256dh: keyOf(87), auth: keyOf(22) }),
});
export type CreatePushSubscription = z.infer<typeof createPushSubscriptionSchema>;

/** A browser that gets pushes of approvals and ends of runs. */
export const pushSubscriptionSchema = z
  .strictObject({
    id: z.string(),
    endpoint: z.string(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'PushSubscription' });
export type PushSubscription = z.infer<typeof pushSubscriptionSchema>;
export const pushSubscriptionListSchema = listOf(pushSubscriptionSchema);

/** GET /v1/push-key. */
export const pushKeySchema = z
  .strictObject({ public_key: z.string().describe('`applicationServerKey` for `pushManager.subscribe`, in base64url') })
  .meta({ id: 'PushKey' });
export type PushKey = z.infer<typeof pushKeySchema>;
