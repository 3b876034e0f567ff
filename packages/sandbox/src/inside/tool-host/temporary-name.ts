import { randomBytes } from 'node:crypto';

/** The name of an entry that is there while one operation runs. */
export const temporaryName = (): string => `.holdpoint-${randomBytes(8).toString('hex')}.tmp`;
