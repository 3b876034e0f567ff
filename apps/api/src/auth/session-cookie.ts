import { longestSessionMs } from '@holdpoint/callers';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiProblem } from '../errors/to-problem.ts';

export const cookieName = 'holdpoint_session';

/**
 * The token in the cookie of a request. Another program on this host, at another port, can add a cookie of the same name, so several are
 * refused: the server cannot know which one the person logged in with.
 * @throws ApiProblem `unauthorized`
 */
export const tokenOf = (request: Pick<FastifyRequest, 'headers'>): string | undefined => cookieOf(request, cookieName);

/** @throws ApiProblem `unauthorized` */
function cookieOf({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const found = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  if (found.length > 1) {
    throw new ApiProblem('unauthorized', `this request carries several cookies ${name}`, {
      next: 'Remove the cookies of this host in the browser, and log in again.',
    });
  }
  return found[0] === '' ? undefined : found[0];
}

/**
 * A cookie comes with requests of any page that the browser shows. Programs at other ports of this host count as the same site, so SameSite
 * is not enough: a write names this server as its origin, and a read does not come from another origin. `guardHost` has compared the Origin.
 * @throws ApiProblem `origin_not_allowed`
 */
export function guardOrigin({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new ApiProblem('origin_not_allowed', 'this request comes from a page of another origin');
  }
  if (method === 'GET' || method === 'HEAD' || headers.origin !== undefined) return;
  throw new ApiProblem('origin_not_allowed', 'a write with a session needs the header Origin of this server');
}

/** The Origin header has the scheme of the page, also behind a proxy that ends TLS. */
export const isFromHttps = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers.origin?.startsWith('https:') === true;

/** @param isSecure whether the browser sees an https address */
export function setCookie(reply: FastifyReply, token: string, isSecure: boolean): void {
  const parts = [
    `${cookieName}=${token}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${longestSessionMs / 1000}`,
  ];
  if (isSecure) parts.push('Secure');
  reply.header('set-cookie', parts.join('; '));
}

export function clearCookie(reply: FastifyReply): void {
  reply.header('set-cookie', `${cookieName}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`);
}

const signInCookie = 'holdpoint_sign_in';

/** The secret of a browser that signs in. It comes back from the page of the identity provider, as a cookie of the same site would not. */
export const signInSecretOf = (request: Pick<FastifyRequest, 'headers'>): string | undefined =>
  cookieOf(request, signInCookie);

export function setSignInCookie(reply: FastifyReply, secret: string, isSecure: boolean): void {
  const parts = [`${signInCookie}=${secret}`, 'Path=/v1/sign-in', 'HttpOnly', 'SameSite=Lax', 'Max-Age=600'];
  if (isSecure) parts.push('Secure');
  reply.header('set-cookie', parts.join('; '));
}
