/** The tenant of the first key, and of everything that was created before there were tenants. Its keys may manage the keys of all tenants. */
export const defaultTenant = 'default';
