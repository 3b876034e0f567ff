import {
  allScopes,
  type Caller,
  callerKindSchema,
  isHeldBy,
  type Scope,
  scopeSchema,
  tenantSchema,
} from '@holdpoint/contract';
import { type KeyLimits, keyLimitsSchema } from '@holdpoint/contract/wire';
import { z } from 'zod';
import type { CallerLimits } from './limits.ts';

/** What is stored of a key and never changes. Not strict: a later version may store more. */
const storedSchema = z.object({
  id: z.string(),
  name: z.string(),
  kind: callerKindSchema,
  tenant: tenantSchema,
  /** A scope of another version says nothing to this one. */
  scopes: z.union([z.literal('all'), z.array(z.string())]),
  limits: keyLimitsSchema.partial(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
  /** Who the key belongs to. Keys of earlier versions have none. */
  person: z.string().optional(),
  expires_at: z.iso.datetime().nullable(),
});
export type Stored = z.infer<typeof storedSchema>;

/** A key as it is stored, with what has happened to it. */
export interface KeyRecord extends Omit<Stored, 'scopes' | 'person'> {
  scopes: Scope[];
  person: string;
  /** It is the one in the key file of the data directory. */
  isFirst: boolean;
  rotated_at: string | null;
  previous_until: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

/** Who sent a request, and what the key allows. */
export interface Holder {
  caller: Caller;
  keyId: string;
  /** It is the key in the key file: what it creates may belong to other persons. */
  isFirst: boolean;
  /** The digest of the text that was presented. */
  digest: string;
  scopes: readonly Scope[];
  /** As they hold. */
  limits: KeyLimits;
  expiresAt: string | null;
}

/** The scopes that count. What a key can never hold does not count, whatever its record says. */
export function scopesOf({ scopes, kind, tenant }: Pick<Stored, 'scopes' | 'kind' | 'tenant'>): Scope[] {
  const known =
    scopes === 'all' ? allScopes : scopes.filter((scope): scope is Scope => scopeSchema.safeParse(scope).success);
  return known.filter((scope) => isHeldBy({ kind, tenant }, scope));
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

/** Its own limits, and those of the server where it has none. */
export const effectiveLimits = ({ limits }: Pick<Stored, 'limits'>, { key }: CallerLimits): KeyLimits => ({
  requests_per_s: limits.requests_per_s === undefined ? key.requests_per_s : limits.requests_per_s,
  burst: limits.burst === undefined ? key.burst : limits.burst,
  streams: limits.streams === undefined ? key.streams : limits.streams,
});
