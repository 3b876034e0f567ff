import { z } from 'zod';
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
    current: z.boolean().describe('Whether this request has it'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof sessionSchema>;
export const sessionListSchema = listOf(sessionSchema);

/** The answer to DELETE /v1/sessions. */
export const endedSessionsSchema = z.strictObject({ ended: z.int().describe('How many have ended') });
