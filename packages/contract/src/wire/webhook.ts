import { z } from 'zod';
import { deliveryOffSchema, deliveryTrySchema, eventFilterSchema } from '../delivery.ts';
import { runIdSchema } from '../ids.ts';
import { integerParameter, listOf } from './page.ts';

const time = z.iso.datetime({ offset: true });

const shape = {
  url: z.string().min(1).max(2000).describe('https, to a public address; others when the operator lists them'),
  ...eventFilterSchema.shape,
  signature: z
    .enum(['v1', 'v1a'])
    .default('v1')
    .describe('Standard Webhooks: v1 is HMAC-SHA256 with a shared secret, v1a is Ed25519 with a public key'),
  note: z.string().max(2000).optional().describe('For people'),
};

/** PUT /v1/webhooks/{name}. */
export const putWebhookSchema = z.strictObject(shape);
export type PutWebhook = z.input<typeof putWebhookSchema>;
export type PutWebhookBody = z.output<typeof putWebhookSchema>;

export const webhookParamsSchema = z.strictObject({ name: z.string() });

export const webhookSchema = z
  .strictObject({
    name: z.string(),
    version: z.int().describe('Counts the changes that callers made'),
    ...shape,
    status: z
      .enum(['active', 'failing', 'off'])
      .describe('failing: the receiver does not answer with 2xx, and is tried again; off: nothing is sent'),
    off: deliveryOffSchema.nullable().describe('Who switched it off, and why'),
    public_key: z.string().nullable().describe('whpk_…, for v1a'),
    signs_with_both_until: time.nullable().describe('After a rotation: until then the previous secret signs, too'),
    created_at: time,
    created_by: z.string(),
    changed_at: time,
    pending: z.int().describe('Runs with events that are not delivered yet'),
    dropped: z.int().describe('Events that were left out, because too many runs waited'),
    failures: z.int().describe('Failed tries since the last success'),
    failing_since: time.nullable(),
    next_try: time.nullable().describe('When a failing receiver is tried again'),
    last_delivered: time.nullable(),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhookSchema>;
export const webhookListSchema = listOf(webhookSchema);

/** The only answers with a secret. It is shown once. */
export const webhookWithSecretSchema = z.strictObject({
  webhook: webhookSchema,
  secret: z
    .string()
    .nullable()
    .describe('whsec_…, for v1, of a new endpoint or after a rotation. It is not shown again'),
});
export type WebhookWithSecret = z.infer<typeof webhookWithSecretSchema>;

/** POST /v1/webhooks/{name}/off. */
export const webhookOffSchema = z.strictObject({ reason: z.string().max(500).optional() }).default({});

export const deliveriesQuerySchema = z.strictObject({ limit: integerParameter(1, 200).default(50) });
/** The newest first. */
export const deliveryListSchema = z.strictObject({ data: z.array(deliveryTrySchema) });

/** POST /v1/webhooks/{name}/redeliver. */
export const redeliverSchema = z.strictObject({
  run_id: runIdSchema,
  seq: z.int().min(1).max(999_999_999).describe('The sequence number of the event in the log of its run'),
});
export type Redeliver = z.input<typeof redeliverSchema>;

/** POST /v1/webhooks/{name}/test: what the receiver answered to an event of the type webhook.test. */
export const webhookTestSchema = z.strictObject({
  delivered: z.boolean(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  ms: z.int(),
});
export type WebhookTest = z.infer<typeof webhookTestSchema>;
