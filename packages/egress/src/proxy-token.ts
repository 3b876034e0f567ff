import { createHash, timingSafeEqual } from 'node:crypto';

/** The user name beside the token; it says nothing. */
const USER = 'holdpoint';

/** Whether a `Proxy-Authorization` header holds the token. Takes the same time for every wrong one. */
export function holdsToken(header: string | undefined, token: string): boolean {
  const [, encoded = ''] = /^basic +([a-z0-9+/=]+)$/i.exec(header ?? '') ?? [];
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  return timingSafeEqual(digest(given), digest(`${USER}:${token}`));
}

/** For HTTP_PROXY and its like. */
export function proxyUrl(token: string, port: number): string {
  return `http://${USER}:${token}@127.0.0.1:${port}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
