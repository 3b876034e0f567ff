import { createECDH } from 'node:crypto';
import { createGuard, EgressError } from '@holdpoint/egress';
import { PushError } from './push-error.ts';

const resolveMs = 10_000;

/** A guard that permits one host and port: public addresses, and private addresses opened by the operator. @throws EgressError `ERULEINVALID` */
export const guardOf = ({ hostname, port, protocol }: URL, allowAddresses: readonly string[]) =>
  createGuard({ rules: [`${hostname}:${portOf({ port, protocol })}`], allowAddresses });

const portOf = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'http:' ? 80 : 443));

/**
 * A push service has a public https address. An address in HOLDPOINT_ALLOW_ADDRESSES may be private, and on this machine without https.
 * @throws PushError `invalid_push_subscription`
 */
export async function checkEndpoint(endpoint: string, allowAddresses: readonly string[]): Promise<void> {
  const url = URL.parse(endpoint);
  if (url === null || !(url.protocol === 'https:' || isOnThisMachine(url))) throw invalid('it is not an https address');
  if (url.username !== '' || url.password !== '') throw invalid('it holds a user name or a password');
  try {
    const target = { host: url.hostname, port: portOf(url) };
    await guardOf(url, allowAddresses).check(target, AbortSignal.timeout(resolveMs));
  } catch (error) {
    throw invalid(error instanceof EgressError ? error.message : 'its name could not be resolved in time');
  }
}

const isOnThisMachine = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && (hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname));

const invalid = (why: string): PushError =>
  new PushError('invalid_push_subscription', `the endpoint cannot be used: ${why}`, '/endpoint');

/** Without this check every push would fail, again and again. @throws PushError `invalid_push_subscription` */
export function checkKeys({ p256dh }: { p256dh: string }): void {
  const own = createECDH('prime256v1');
  own.generateKeys();
  try {
    own.computeSecret(p256dh, 'base64url');
  } catch {
    const detail = 'p256dh is no point of the curve P-256';
    throw new PushError('invalid_push_subscription', detail, '/keys/p256dh');
  }
}
