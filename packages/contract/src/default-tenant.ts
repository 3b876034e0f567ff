/** The tenant of the first key, and of all data created before tenants existed. Its keys may manage the keys of all tenants. */
export const defaultTenant = 'default';
