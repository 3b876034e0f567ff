import { createHash } from 'node:crypto';
import type { Tenant } from '@holdpoint/contract';

/** The prefix of Redis keys. All keys share a hash tag, because scripts find a key through another key. */
export const prefix = 'hp:{keys}:';
export const recordKey = (id: string): string => `${prefix}key:${id}`;
/** The id and the digest of a key, found by the first half of the digest; the second half is compared in constant time. */
export const pointerKey = (digest: string): string => `${prefix}hash:${digest.slice(0, 32)}`;
/** The key in force by its name. Names differ in more than case. */
export const nameKey = (tenant: Tenant, name: string): string => `${prefix}name:${tenant}:${name.toLowerCase()}`;
export const keyIndex = (tenant: Tenant): string => `${prefix}index:${tenant}`;
/** The id of the key in the key file. */
export const firstKey = `${prefix}first`;
/** A hash: when each key was last used, in milliseconds. */
export const usedKey = `${prefix}used`;
export const streamsKey = (id: string): string => `${prefix}streams:${id}`;
/** A login of a browser. */
export const sessionKey = (id: string): string => `${prefix}session:${id}`;
/** The ids of the sessions of a key, by their beginning. */
export const sessionIndex = (id: string): string => `${prefix}sessions:${id}`;
/** The code of a link that logs in, by the first half of its digest. */
export const codeKey = (digest: string): string => `${prefix}code:${digest.slice(0, 32)}`;
/** A passkey: its record, its signature counter, and when it was last used. */
export const passkeyKey = (id: string): string => `${prefix}passkey:${id}`;
/** The ids of the passkeys of a person. A tenant has no colon, and a person may have. */
export const passkeyIndex = (tenant: Tenant, person: string): string => `${prefix}passkeys:${tenant}:${person}`;
/** What a passkey was asked to sign. */
export const challengeKey = (challenge: string): string => `${prefix}challenge:${challenge}`;
/** A permit to add a passkey, by the first half of the digest of its code. */
export const permitKey = (digest: string): string => `${prefix}permit:${digest.slice(0, 32)}`;
/** Pub/sub channel: a key was revoked or rotated, or a session of it ended. Open streams look whether theirs is still valid. */
export const changedChannel = (id: string): string => `${prefix}changed:${id}`;

/** Texts of an identity provider have any form and length: names of Redis keys hold their digests. */
const nameOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
/** The id of the key of a person who signs in at an identity provider: one for each tenant. */
export const identityKey = (issuer: string, subject: string, tenant: Tenant): string =>
  `${prefix}identity:${nameOf(issuer, subject, tenant)}`;
/** The ids of the keys of a person of an identity provider, in all tenants. */
export const subjectKey = (issuer: string, subject: string): string => `${prefix}subject:${nameOf(issuer, subject)}`;
/** The sessions here that belong to one session at the identity provider. */
export const providerSessionKey = (issuer: string, sid: string): string => `${prefix}sid:${nameOf(issuer, sid)}`;
/** The identity provider has ended this session of its own: a sign-in that is still under way opens none. */
export const endedSidKey = (issuer: string, sid: string): string => `${prefix}sid-ended:${nameOf(issuer, sid)}`;
/** Taken once: an answer to a sign-in, or a request of the identity provider to log out. */
export const onceKey = (...parts: readonly string[]): string => `${prefix}once:${nameOf(...parts)}`;
/** The sessions that the identity provider has to confirm, by the time when. */
export const confirmIndex = `${prefix}sign-in:confirm`;
