import { z } from 'zod';
import { callerNameSchema, tenantSchema } from './caller.ts';
import { decisionKindSchema } from './vocabulary.ts';

/** base64url in its one canonical spelling: a flipped bit that decodes to the same bytes is another text, and refused. */
export const base64UrlSchema = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[A-Za-z0-9_-]+$/, 'expected base64url without padding');

/**
 * The proof that a person made a decision with a passkey, as a decision keeps it. Together with the decision it can be checked without the
 * server: the signature, and the challenge, which is a hash of the decision (`challengeOf`).
 */
export const passkeyAssertionSchema = z.strictObject({
  v: z.literal(1),
  nonce: base64UrlSchema.describe('32 random bytes of the server: no challenge can be known before it is asked for'),
  person: z.string().describe('Who the passkey belongs to'),
  credential_id: base64UrlSchema,
  public_key: base64UrlSchema.describe('COSE key, as it was registered'),
  rp_id: z.string().describe('The name of the server for passkeys'),
  origin: z.string().describe('The page that asked for it'),
  authenticator_data: base64UrlSchema,
  client_data_json: base64UrlSchema,
  signature: base64UrlSchema,
});
export type PasskeyAssertion = z.infer<typeof passkeyAssertionSchema>;

/** What a person decides on, in the challenge of a passkey. */
export const decisionToConfirmSchema = z.strictObject({
  tenant: tenantSchema,
  by: callerNameSchema,
  approval_id: z.string(),
  action_digest: z.string(),
  decision: decisionKindSchema,
  args: z.string().nullable().describe('With edit: digest of the arguments as they run'),
  message: z.string().nullable().describe('Digest of the message: of an answer, it decides what the planner reads'),
});
export type DecisionToConfirm = z.infer<typeof decisionToConfirmSchema>;

/** The audit log keeps a registration under this subject, with `registeredPasskeySchema` as its detail. */
export const passkeySubject = (id: string): string => `passkey/${id}`;

export const registeredPasskeySchema = z.looseObject({
  person: z.string(),
  credential_id: z.string(),
  public_key: z.string(),
  rp_id: z.string(),
});

/** Milliseconds in which a challenge is answered. */
export const challengeMs = 5 * 60_000;
