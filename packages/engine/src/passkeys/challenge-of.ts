import { hash } from 'node:crypto';
import { canonicalJson, type DecisionToConfirm, type PasskeyAssertion } from '@holdpoint/contract';

/** The server's part of a challenge. */
export type ChallengeSecret = Pick<PasskeyAssertion, 'nonce' | 'person'>;

/** The challenge that a passkey signs for a decision: another approval, call, decision or caller has another one. */
export const challengeOf = (decision: DecisionToConfirm, { nonce, person }: ChallengeSecret): string =>
  digestOf({ v: 1, use: 'decision', nonce, person, ...decision });

/** The challenge that a present passkey signs so that its person may add another one. */
export const challengeToAdd = (
  adding: { registration: string; tenant: string; by: string } & ChallengeSecret,
): string => digestOf({ v: 1, use: 'passkey', ...adding });

const digestOf = (parts: object): string =>
  Buffer.from(hash('sha256', canonicalJson(parts), 'buffer')).toString('base64url');
