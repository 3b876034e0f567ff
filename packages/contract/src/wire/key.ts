import { z } from 'zod';
import { callerKindSchema, callerNameSchema, callerSchema, scopeSchema, tenantSchema } from '../caller.ts';
import { keyIdSchema } from '../ids.ts';
import { cursorOf, integerParameter, pageOf } from './page.ts';

const time = z.iso.datetime();

/** Bounds on a key in addition to its scopes. Null: unlimited. */
export const keyLimitsSchema = z.strictObject({
  requests_per_s: z.int().min(1).max(100_000).nullable().describe('Requests per second, on average'),
  burst: z.int().min(1).max(1_000_000).nullable().describe('Requests at once, when the key was idle before'),
  streams: z.int().min(1).max(10_000).nullable().describe('Event streams that are open at the same time'),
});
export type KeyLimits = z.infer<typeof keyLimitsSchema>;

/** A key without its text: no store has the text. */
export const keySchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    kind: callerKindSchema,
    tenant: tenantSchema,
    scopes: z.array(scopeSchema),
    limits: keyLimitsSchema.describe('As they hold: its own, or the defaults of the server'),
    created_at: time,
    created_by: z.string(),
    person: z
      .string()
      .describe('Who the key belongs to. Where several persons have to decide, all keys of a person count as one'),
    expires_at: time.nullable().describe('From then on the key is refused'),
    last_used_at: time.nullable().describe('To the minute'),
    rotated_at: time.nullable(),
    previous_until: time
      .nullable()
      .describe('After a rotation: until then the text before the last rotation is valid, too'),
    revoked_at: time.nullable(),
    sign_in: z
      .strictObject({ issuer: z.string(), subject: z.string() })
      .optional()
      .describe('The account at the identity provider; such a key has no text, and sessions alone have its rights'),
  })
  .meta({ id: 'Key' });
export type Key = z.infer<typeof keySchema>;
export const keyPageSchema = pageOf(keySchema);

/** The answer to create and rotate: the text of the key is shown only here. */
export const issuedKeySchema = z
  .strictObject({ ...keySchema.shape, key: z.string().describe('The text of the key. It is shown this once') })
  .meta({ id: 'IssuedKey' });
export type IssuedKey = z.infer<typeof issuedKeySchema>;

/** POST /v1/keys. */
export const createKeySchema = z.strictObject({
  name: callerNameSchema.describe('What `created_by` and `by` say. No other key of the tenant in force has it'),
  kind: callerKindSchema,
  scopes: z.array(z.string()).min(1).max(50).describe('Only scopes that the caller itself holds'),
  tenant: tenantSchema.optional().describe("Default: the caller's. Another one only for keys of the tenant `default`"),
  expires_at: z.iso.datetime({ offset: true }).optional().describe('Default: never'),
  person: callerNameSchema
    .optional()
    .describe(
      "Who the key belongs to. Default: the person of the caller's key. Only the key in the key file may name another person; its default is a new person with the name of the key",
    ),
  limits: keyLimitsSchema.partial().optional().describe('Default: those of the server'),
});
export type CreateKey = z.input<typeof createKeySchema>;

/** A month. */
const longestGrace = 30 * 24 * 3600;

/** POST /v1/keys/{id}/rotate. */
export const rotateKeySchema = z.strictObject({
  grace_s: z.int().min(0).max(longestGrace).default(0).describe('Seconds that the text before stays valid'),
});
export type RotateKey = z.input<typeof rotateKeySchema>;

/** GET /v1/keys. */
export const listKeysQuerySchema = z.strictObject({
  tenant: tenantSchema.optional().describe("Default: the caller's"),
  limit: integerParameter(1, 200).default(50),
  cursor: cursorOf(keyIdSchema).optional(),
});

/** GET /v1/me. */
export const meSchema = z
  .strictObject({
    ...callerSchema.shape,
    key_id: z.string(),
    scopes: z.array(scopeSchema),
    expires_at: time.nullable(),
    limits: keyLimitsSchema,
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof meSchema>;
