import { allScopes, isHeldBy, type Scope, type Tenant } from '@holdpoint/contract';

const viewer = [
  'runs:read',
  'approvals:read',
  'tools:read',
  'policies:read',
  'schedules:read',
] as const satisfies readonly Scope[];

/** Names for sets of scopes, for the groups of an identity provider. */
const roles = {
  viewer,
  developer: [...viewer, 'runs:write', 'secrets:read'],
  approver: [...viewer, 'approvals:decide'],
  operator: allScopes,
} as const satisfies Record<string, readonly Scope[]>;
export type Role = keyof typeof roles;
export const allRoles = Object.keys(roles) as [Role, ...Role[]];

/** The scopes of some roles and of single grants, as far as a person of the tenant can hold them. */
export function scopesOfRoles(
  { roles: named, scopes }: { roles: readonly Role[]; scopes: readonly Scope[] },
  tenant: Tenant,
): Scope[] {
  const asked = new Set<Scope>([...named.flatMap((role) => roles[role]), ...scopes]);
  return allScopes.filter((scope) => asked.has(scope) && isHeldBy({ kind: 'person', tenant }, scope));
}
