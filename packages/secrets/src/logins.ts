import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock } from '@holdpoint/process/file-lock';
import { type EncryptedStore, namesInStore, tenantsInStore } from './providers/encrypted-store.ts';

/**
 * Logins of Holdpoint at outside servers: encrypted like secrets, and redacted line by line. No list of secrets shows a login, and no run can
 * name one.
 */
export interface Logins {
  /** The names of the logins of a tenant. */
  list(tenant: string): string[];
  /** Reads a login now; every later output of the tenant has its lines redacted. @throws SecretError */
  read(name: string, at: { tenant: string }): string | undefined;
  /** When this returns, the login is on disk. @throws SecretError `ESECRETSTOREOFF`, `ESECRETVALUE` */
  write(name: string, text: string, at: { tenant: string }): Promise<void>;
  /** No-op without such a login. */
  remove(name: string, at: { tenant: string }): Promise<void>;
  /** @throws SecretError `ESECRETSTOREOFF` when no login can be written */
  assertOpen(): void;
  /** Runs `work` while no other process works with the login. @throws the reason of the signal */
  exclusively<Result>(
    name: string,
    at: { tenant: string; signal: AbortSignal },
    work: () => Promise<Result>,
  ): Promise<Result>;
}

/**
 * @param onValue hears of every value that was read or written
 * @param storeOff makes the error of a store without a key
 */
export function openLogins(
  store: EncryptedStore | undefined,
  {
    folder,
    onValue,
    storeOff,
  }: {
    folder: string | undefined;
    onValue: (tenant: string, named: { name: string; value: string }) => void;
    storeOff: () => Error;
  },
): Logins {
  const assertOpen = (): EncryptedStore => {
    if (store === undefined) throw storeOff();
    return store;
  };
  return {
    assertOpen,
    list: (tenant) => (store?.list(tenant) ?? []).map(({ name }) => name),
    read(name, at) {
      const value = store?.resolve(name, at);
      if (value !== undefined) onValue(at.tenant, { name, value });
      return value;
    },
    async write(name, value, at) {
      const open = assertOpen();
      onValue(at.tenant, { name, value });
      await open.set(name, value, at);
    },
    async remove(name, at) {
      await store?.remove(name, at);
    },
    async exclusively(name, { tenant, signal }, work) {
      if (folder === undefined) throw storeOff();
      // The folder of a tenant has entries alone, so the locks lie beside these folders.
      const locks = `${folder}.locks`;
      await mkdir(locks, { recursive: true, mode: 0o700 });
      return withFileLock({ path: join(locks, `${tenant}.${name}`), signal }, work);
    },
  };
}

export const loginFolderOf = (dataDir: string): string => join(dataDir, 'logins');

/** The tenants with a login in a data directory, by name. Needs no key. */
export const loginTenants = (dataDir: string): string[] => tenantsInStore(loginFolderOf(dataDir));

/** The names of a tenant's logins in a data directory. Needs no key. */
export const savedLogins = (dataDir: string, tenant: string): string[] => namesInStore(loginFolderOf(dataDir), tenant);
