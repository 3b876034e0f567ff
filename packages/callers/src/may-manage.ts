import { type CallerKind, defaultTenant, type Scope, type Tenant, whyNeverHeld } from '@holdpoint/contract';
import type { KeyLimits, PointerError } from '@holdpoint/contract/wire';
import { CallerError } from './errors.ts';
import type { Holder } from './record.ts';

/** The powers given by the text of a key. */
interface Powers {
  kind: CallerKind;
  tenant: Tenant;
  scopes: readonly Scope[];
  limits: KeyLimits;
  expires_at: string | null;
}

/** Whether a caller sees the keys of a tenant: its own tenant, or all tenants for the operator's caller. */
export const seesTenant = ({ caller }: Pick<Holder, 'caller'>, tenant: Tenant): boolean =>
  caller.tenant === tenant || caller.tenant === defaultTenant;

/**
 * A caller gives no more than its own key has. Otherwise keys:admin alone could create a key with every scope, or take over another key by
 * rotation. The pointers fit the request to create a key.
 * @throws CallerError `key_not_allowed`
 */
export function assertHolds(holder: Holder, asked: Powers): void {
  const errors = refusals(holder, asked);
  const [first] = errors;
  if (first !== undefined) throw new CallerError('key_not_allowed', first.detail, errors);
}

/** Refuses scopes out of reach for any key of this kind and tenant. @throws CallerError `invalid_key` */
export function assertHoldable(asked: Pick<Powers, 'kind' | 'tenant' | 'scopes'>): void {
  const errors = asked.scopes.flatMap((scope, index) => {
    const detail = whyNeverHeld(asked, scope);
    return detail === undefined ? [] : [{ pointer: `/scopes/${index}`, detail }];
  });
  const [first] = errors;
  if (first !== undefined) throw new CallerError('invalid_key', first.detail, errors);
}

function refusals({ caller, scopes, limits, expiresAt }: Holder, asked: Powers): PointerError[] {
  const errors: PointerError[] = [];
  const refuse = (pointer: string, detail: string) => errors.push({ pointer, detail });
  if (!seesTenant({ caller }, asked.tenant)) refuse('/tenant', `${caller.name} may not manage keys of another tenant`);
  if (caller.kind === 'agent' && asked.kind !== 'agent') refuse('/kind', 'an agent manages keys of agents only');
  for (const [index, scope] of asked.scopes.entries()) {
    if (!scopes.includes(scope)) refuse(`/scopes/${index}`, `${caller.name} does not have the scope ${scope} itself`);
  }
  for (const field of ['requests_per_s', 'burst', 'streams'] as const) {
    const [own, wanted] = [limits[field], asked.limits[field]];
    if (own === null || (wanted !== null && wanted <= own)) continue;
    refuse(`/limits/${field}`, `${wanted ?? 'unlimited'} is more than the ${own} of ${caller.name}`);
  }
  if (expiresAt !== null && (asked.expires_at === null || Date.parse(asked.expires_at) > Date.parse(expiresAt))) {
    refuse('/expires_at', `the key of ${caller.name} itself expires at ${expiresAt}`);
  }
  return errors;
}
