import { createECDH } from 'node:crypto';
import { PushError } from './push-error.ts';

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
