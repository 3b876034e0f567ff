import { z } from 'zod';
import { tenantSchema } from '../caller.ts';
import { base64UrlSchema } from '../passkey.ts';
import { listOf } from './page.ts';

const time = z.iso.datetime();

/** A passkey of a person. */
export const passkeySchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    person: z.string(),
    rp_id: z.string().describe('The name of this server that it was made for: it signs on no page of another name'),
    created_at: time,
    created_by: z.string(),
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Passkey' });
export type Passkey = z.infer<typeof passkeySchema>;
export const passkeyListSchema = listOf(passkeySchema);

/** GET /v1/passkeys. */
export const listPasskeysQuerySchema = z.strictObject({
  person: z.string().min(1).max(200).optional().describe('Those of another person; needs keys:admin'),
  tenant: tenantSchema.optional(),
});

const credential = { type: z.literal('public-key'), id: base64UrlSchema };

/** `PublicKeyCredential.parseRequestOptionsFromJSON` of a browser takes it. */
export const assertionOptionsSchema = z
  .strictObject({
    challenge: base64UrlSchema,
    rpId: z.string(),
    allowCredentials: z.array(z.strictObject({ ...credential, transports: z.array(z.string()) })),
    userVerification: z.literal('required'),
    timeout: z.int().describe('Milliseconds in which the challenge is answered'),
  })
  .meta({ id: 'AssertionOptions' });
export type AssertionOptions = z.infer<typeof assertionOptionsSchema>;

/** `PublicKeyCredential.toJSON()` after `navigator.credentials.get`. Browsers add members, which are ignored. */
export const assertionResponseSchema = z
  .object({
    id: base64UrlSchema,
    type: z.literal('public-key'),
    response: z.object({
      clientDataJSON: base64UrlSchema,
      authenticatorData: base64UrlSchema,
      signature: base64UrlSchema,
    }),
  })
  .meta({ id: 'AssertionResponse' });
export type AssertionResponse = z.infer<typeof assertionResponseSchema>;

/** POST /v1/passkeys/registration. */
export const beginRegistrationSchema = z.strictObject({
  permit: z.string().max(100).optional().describe('The code of the operator. Without it a present passkey permits'),
});

export const registrationOptionsSchema = z
  .strictObject({
    registration: z
      .strictObject({
        rp: z.strictObject({ id: z.string(), name: z.string() }),
        user: z.strictObject({ id: base64UrlSchema, name: z.string(), displayName: z.string() }),
        challenge: base64UrlSchema,
        pubKeyCredParams: z.array(z.strictObject({ type: z.literal('public-key'), alg: z.int() })),
        excludeCredentials: z.array(z.strictObject({ ...credential, transports: z.array(z.string()) })),
        authenticatorSelection: z.strictObject({
          residentKey: z.literal('preferred'),
          userVerification: z.literal('required'),
        }),
        attestation: z.literal('none'),
        timeout: z.int(),
      })
      .describe('`PublicKeyCredential.parseCreationOptionsFromJSON` of a browser takes it'),
    assertion: assertionOptionsSchema
      .nullable()
      .describe('A present passkey signs it first; null: the code of the operator permits'),
  })
  .meta({ id: 'RegistrationOptions' });
export type RegistrationOptions = z.infer<typeof registrationOptionsSchema>;

/** POST /v1/passkeys. */
export const addPasskeySchema = z.strictObject({
  name: z.string().trim().min(1).max(100).describe('For its person: the device, for example'),
  registration: z
    .object({
      id: base64UrlSchema,
      type: z.literal('public-key'),
      response: z.object({
        clientDataJSON: base64UrlSchema,
        attestationObject: base64UrlSchema,
        transports: z.array(z.string().max(40)).max(10).optional(),
      }),
    })
    .describe('`PublicKeyCredential.toJSON()` after `navigator.credentials.create`'),
  assertion: assertionResponseSchema
    .optional()
    .describe('The signature of a present passkey, where the answer asked for it'),
});
export type AddPasskey = z.infer<typeof addPasskeySchema>;

/** POST /v1/passkeys/permits. */
export const createPermitSchema = z.strictObject({
  person: z.string().min(1).max(200).describe('As GET /v1/keys names the person of a key'),
  tenant: tenantSchema.optional().describe('Default: the tenant of the key'),
});

export const passkeyPermitSchema = z
  .strictObject({
    code: z.string().describe('It is shown this once, and permits one passkey'),
    person: z.string(),
    tenant: tenantSchema,
    expires_at: time,
  })
  .meta({ id: 'PasskeyPermit' });
export type PasskeyPermit = z.infer<typeof passkeyPermitSchema>;
