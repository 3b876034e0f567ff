import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** The secret of a browser that signs in: a cookie. Everything else about an attempt follows from it, so the server keeps nothing. */
export const newBrowserSecret = (): string => randomBytes(32).toString('base64url');
export const isBrowserSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** A sign-in may take so long. */
export const attemptMs = 600_000;

const attemptSchema = z.strictObject({
  at: z.int(),
  id: z.string(),
  to: z.string(),
  tenant: z.string().optional(),
  /** The session that the new one replaces: its cookie does not come back from the provider's page. */
  before: z.string().optional(),
});
export type Attempt = z.infer<typeof attemptSchema>;

/** What the provider gets and gives back; it is bound to the browser, and to this attempt. */
export function stateOf(secret: string, attempt: Omit<Attempt, 'id'>): string {
  const body = Buffer.from(JSON.stringify({ ...attempt, id: randomBytes(16).toString('base64url') })).toString(
    'base64url',
  );
  return `${body}.${keyed(secret, 'state', body)}`;
}

/** Undefined: another browser began it, it is changed, or too old. */
export function readState(secret: string, state: string, now: number): Attempt | undefined {
  const [body = '', mark = ''] = state.split('.');
  const own = keyed(secret, 'state', body);
  if (mark.length !== own.length || !timingSafeEqual(Buffer.from(mark), Buffer.from(own))) return undefined;
  const attempt = attemptSchema.parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
  return now - attempt.at > attemptMs || attempt.at - now > attemptMs ? undefined : attempt;
}

export const verifierOf = (secret: string, state: string): string => keyed(secret, 'verifier', state);
export const nonceOf = (secret: string, state: string): string => keyed(secret, 'nonce', state);

const keyed = (secret: string, use: string, text: string): string =>
  createHmac('sha256', secret).update(`${use} ${text}`).digest('base64url');

/** A page of the console, and never another site: browsers read `//host`, `/\host` and control characters as addresses elsewhere. */
export function pageOf(to: string | undefined): string {
  if (to === undefined || to.length > 300 || !/^\/(?!\/)[A-Za-z0-9/_.~-]*$/.test(to)) return '/';
  return /^\/(v1|docs|openapi\.json)(\/|$)/.test(to) ? '/' : to;
}
