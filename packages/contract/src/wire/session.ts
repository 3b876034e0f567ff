import { z } from 'zod';
import { tenantSchema } from '../caller.ts';
import { listOf } from './page.ts';

const time = z.iso.datetime();

/** POST /v1/session. */
export const loginSchema = z.strictObject({ key: z.string().describe('The text of a key') });

/** POST /v1/session/exchange. */
export const exchangeCodeSchema = z.strictObject({ code: z.string().describe('From the fragment of the link') });

/** The answer to POST /v1/session/code. */
export const loginCodeSchema = z
  .strictObject({
    code: z.string().describe('For `/login#code=…`. It is shown this once, and logs in once'),
    expires_at: time,
  })
  .meta({ id: 'LoginCode' });
export type LoginCode = z.infer<typeof loginCodeSchema>;

/** A login of a browser. */
export const sessionSchema = z
  .strictObject({
    id: z.string(),
    created_at: time,
    last_used_at: time.describe('To the minute'),
    expires_at: time.describe('Without a request until then; with its key, if that ends before'),
    signed_in: z
      .enum(['browser', 'command'])
      .optional()
      .describe('Where the person signed in with the identity provider; absent: with a key or a link'),
    current: z.boolean().describe('Whether this request has it'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof sessionSchema>;
export const sessionListSchema = listOf(sessionSchema);

/** The answer to DELETE /v1/sessions. */
export const endedSessionsSchema = z.strictObject({ ended: z.int().describe('How many have ended') });

/** GET /v1/sign-in. */
export const signInOptionsSchema = z
  .strictObject({
    available: z.boolean(),
    label: z.string().nullable().describe('What the operator calls the identity provider'),
  })
  .meta({ id: 'SignInOptions' });
export type SignInOptions = z.infer<typeof signInOptionsSchema>;

/** GET /v1/sign-in/start. */
export const startSignInQuerySchema = z.strictObject({
  to: z.string().optional().describe('The page of the console to show afterwards'),
  tenant: tenantSchema.optional().describe('Default: the first one in which a group of the person has access'),
  moved: z.literal('1').optional().describe('Set by a redirect to the address of the console'),
});

/** GET /v1/sign-in/callback: what the provider sends, and what it adds. */
export const completeSignInQuerySchema = z.looseObject({
  state: z.string().optional(),
  code: z.string().optional(),
  iss: z.string().optional(),
  error: z.string().optional(),
});

/** The answer to POST /v1/sign-in/device. */
export const deviceSignInSchema = z
  .strictObject({
    device: z.string().describe('For POST /v1/sign-in/device/token'),
    user_code: z.string().describe('What the person types at the page'),
    verification_uri: z.string(),
    verification_uri_complete: z.string().optional().describe('The page with the code'),
    expires_in: z.number().describe('Seconds'),
    interval: z.number().describe('Seconds between two questions'),
  })
  .meta({ id: 'DeviceSignIn' });
export type DeviceSignIn = z.infer<typeof deviceSignInSchema>;

/** POST /v1/sign-in/device/token. */
export const deviceTokenRequestSchema = z.strictObject({
  device: z.string().max(10_000),
  tenant: tenantSchema.optional(),
});

/** The answer to POST /v1/sign-in/device/token. */
export const deviceTokenSchema = z
  .strictObject({
    token: z.string().nullable().describe('For `Authorization: Bearer`; null: the person has not signed in yet'),
    name: z.string().optional(),
    tenant: z.string().optional(),
  })
  .meta({ id: 'DeviceToken' });
export type DeviceToken = z.infer<typeof deviceTokenSchema>;

/** POST /v1/sign-in/back-channel-logout, as a form. */
export const providerLogoutSchema = z.strictObject({ logout_token: z.string().max(20_000) });
