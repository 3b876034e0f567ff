import * as contract from '@holdpoint/contract';
import { type KeyLimits, keyLimitsSchema } from '@holdpoint/contract/wire';
import { z } from 'zod';
import type { CallerLimits } from './limits.ts';

/** The unchanging part of a key's record. Not strict: a later version may store more. */
const storedSchema = z.object({
  id: z.string(),
  name: z.string(),
  kind: contract.callerKindSchema,
  tenant: contract.tenantSchema,
  /** A scope unknown to this version is ignored. */
  scopes: z.union([z.literal('all'), z.array(z.string())]),
  limits: keyLimitsSchema.partial(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
  /** Who the key belongs to. Keys of earlier versions have none. */
  person: z.string().optional(),
  expires_at: z.iso.datetime().nullable(),
  /** Who it is at the identity provider. Such a key has no text: sessions alone have its rights. */
  sign_in: z.object({ issuer: z.string(), subject: z.string() }).optional(),
});
export type Stored = z.infer<typeof storedSchema>;

/** The stored key, with its history. */
export interface KeyRecord extends Omit<Stored, 'scopes' | 'person'> {
  scopes: contract.Scope[];
  person: string;
  /** The key in the key file of the data directory. */
  isFirst: boolean;
  rotated_at: string | null;
  previous_until: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

/** The sender of a request, and the powers of the sender's key. */
export interface Holder {
  caller: contract.Caller;
  keyId: string;
  /** The key in the key file: keys created with this key may belong to other persons. */
  isFirst: boolean;
  /** The digest of the presented text; for a session, of the text that it was opened with. */
  digest: string;
  /** The id of the session, in place of a key. It has the rights of its key. */
  session?: string;
  scopes: readonly contract.Scope[];
  /** As they hold. */
  limits: KeyLimits;
  expiresAt: string | null;
}

/** The effective scopes. Scopes out of reach for such a key do not count, whatever its record says. */
export function scopesOf({ scopes, kind, tenant }: Pick<Stored, 'scopes' | 'kind' | 'tenant'>): contract.Scope[] {
  const known =
    scopes === 'all'
      ? contract.allScopes
      : scopes.filter((scope): scope is contract.Scope => contract.scopeSchema.safeParse(scope).success);
  return known.filter((scope) => contract.isHeldBy({ kind, tenant }, scope));
}

export const parseStored = (text: string): Stored => storedSchema.parse(JSON.parse(text));

/** @param fields of the hash of a key */
export function parseRecord(fields: Record<string, string>, usedAt: string | null): KeyRecord | undefined {
  if (fields.record === undefined) return undefined;
  const stored = parseStored(fields.record);
  return {
    ...stored,
    // The recorded persons of an older key are found by its name: see `persons.ts`.
    person: stored.person ?? fields.person ?? stored.name,
    scopes: scopesOf(stored),
    isFirst: stored.scopes === 'all',
    rotated_at: timeOf(fields.rotated_at),
    previous_until: timeOf(fields.previous_until),
    revoked_at: timeOf(fields.revoked_at),
    last_used_at: timeOf(usedAt ?? undefined),
  };
}

const timeOf = (ms: string | undefined): string | null =>
  ms === undefined || ms === '' ? null : new Date(Number(ms)).toISOString();

/** The key's own limits, and the server's limits for the rest. */
export const effectiveLimits = ({ limits }: Pick<Stored, 'limits'>, { key }: CallerLimits): KeyLimits => ({
  requests_per_s: limits.requests_per_s === undefined ? key.requests_per_s : limits.requests_per_s,
  burst: limits.burst === undefined ? key.burst : limits.burst,
  streams: limits.streams === undefined ? key.streams : limits.streams,
});
