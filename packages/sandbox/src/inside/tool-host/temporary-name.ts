import { randomBytes } from 'node:crypto';

/** Name of a temporary entry during an operation. */
export const temporaryName = (): string => `.holdpoint-${randomBytes(8).toString('hex')}.tmp`;
