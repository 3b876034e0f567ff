import { createHash, timingSafeEqual } from 'node:crypto';

/** A proxy URL needs a user name before the token. Its value has no meaning. */
const user = 'holdpoint';

/** Whether a `Proxy-Authorization` header holds the token. The comparison takes the same time for every wrong token. */
export function holdsToken(header: string | undefined, token: string): boolean {
  const [, encoded = ''] = /^basic +([a-z0-9+/=]+)$/i.exec(header ?? '') ?? [];
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  return timingSafeEqual(digest(given), digest(`${user}:${token}`));
}

/** The value of HTTP_PROXY and HTTPS_PROXY. */
export function proxyUrl(token: string, port: number): string {
  return `http://${user}:${token}@127.0.0.1:${port}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
