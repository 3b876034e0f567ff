import { isAbsolute, join } from 'node:path';
import { secretNameSchema } from '@holdpoint/contract';
import { SecretError } from './errors.ts';
import { type Logins, loginFolderOf, openLogins } from './logins.ts';
import type { SecretInfo, SecretProvider } from './port.ts';
import { encryptedStore, type KeySource, readStoreKey } from './providers/encrypted-store.ts';
import { environmentSecrets } from './providers/environment.ts';
import { fileSecrets } from './providers/files.ts';
import { openRedactor, type Redactor } from './redaction/redactor.ts';
import type { NamedValue } from './redaction/scanner.ts';

/** Where a process finds secrets. */
export interface SecretSettings {
  /** The environment; `openSecrets` removes the secret variables. */
  environment: NodeJS.ProcessEnv;
  /** Variables with a secret under the variable's own name. */
  variables: readonly string[];
  folder: string | undefined;
  storeFolder: string;
  /** The encrypted logins at outside servers. @default no logins */
  loginFolder?: string;
  key: KeySource | undefined;
}

/**
 * Reads the operator's settings, and removes the key from the environment.
 * @throws SecretError naming the variable
 */
export function secretSettingsFrom(env: NodeJS.ProcessEnv, { dataDir }: { dataDir: string }): SecretSettings {
  const { HOLDPOINT_SECRETS_DIR: folder, HOLDPOINT_SECRETS_KEY_FILE: file, HOLDPOINT_SECRETS_KEY: text } = env;
  delete env.HOLDPOINT_SECRETS_KEY;
  for (const [name, path] of Object.entries({ HOLDPOINT_SECRETS_DIR: folder, HOLDPOINT_SECRETS_KEY_FILE: file })) {
    if (path && !isAbsolute(path)) throw wrong(`${name} is no absolute path`, 'Give the path from the root.');
  }
  if (file && text) {
    throw wrong('HOLDPOINT_SECRETS_KEY_FILE and HOLDPOINT_SECRETS_KEY are both set', 'Set one of them.');
  }
  const variables = (env.HOLDPOINT_SECRETS_ENV ?? '').split(',').flatMap((name) => name.trim() || []);
  const bad = variables.find((name) => !secretNameSchema.safeParse(name).success);
  if (bad !== undefined) throw wrong(`HOLDPOINT_SECRETS_ENV names ${bad}, which is no name of a secret`, 'Correct it.');
  return {
    environment: env,
    variables,
    folder: folder || undefined,
    storeFolder: join(dataDir, 'secrets'),
    loginFolder: loginFolderOf(dataDir),
    key: file ? { file } : text ? { text } : undefined,
  };
}

const wrong = (problem: string, next: string): SecretError => new SecretError('ESECRETACCESS', `${problem}.`, { next });

/** The secrets of a process. */
export interface Secrets {
  /** Without values, sorted by name. */
  list(tenant: string): SecretInfo[];
  /** Reads a value now; every later output has the value redacted. @throws SecretError `ESECRETUNKNOWN` and the errors of the providers */
  resolve(name: string, at: { tenant: string }): string;
  /** Redacts the secrets of a tenant; with `names`, only these. Looks for changed values at most twice a second. */
  redactor(tenant: string, names?: readonly string[]): Redactor;
  /** Redacts the secrets of all tenants: for the operator's log. */
  logRedactor(): Redactor;
  /** @throws SecretError `ESECRETSTOREOFF`, `ESECRETTAKEN`, `ESECRETVALUE` */
  set(name: string, value: string, at: { tenant: string }): Promise<SecretInfo>;
  /** @throws SecretError `ESECRETUNKNOWN`, `ESECRETTAKEN` when the store has no such entry */
  remove(name: string, at: { tenant: string }): Promise<SecretInfo>;
  logins: Logins;
}

/** How old a redactor may be, in milliseconds. */
const lookEveryMs = 500;

/** @throws SecretError when a place of secrets cannot be read; then the process must not start */
export function openSecrets(settings: SecretSettings, { now = Date.now }: { now?: () => number } = {}): Secrets {
  const { environment, variables, folder, storeFolder, loginFolder, key } = settings;
  const storeKey = key && readStoreKey(key);
  const store = encryptedStore(storeFolder, storeKey, now);
  const loginStore = loginFolder === undefined ? undefined : encryptedStore(loginFolder, storeKey, now);
  const fixed = [environmentSecrets(environment, variables), ...(folder === undefined ? [] : [fileSecrets(folder)])];
  const providers: readonly SecretProvider[] = [...fixed, ...(store === undefined ? [] : [store])];
  const known = openKnownValues(providers, loginStore);

  const list = (tenant: string): SecretInfo[] => {
    const byName = new Map<string, SecretInfo>();
    for (const info of providers.flatMap((one) => one.list(tenant)))
      if (!byName.has(info.name)) byName.set(info.name, info);
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const assertFree = (name: string, tenant: string) => {
    const other = fixed.flatMap((one) => one.list(tenant)).find((info) => info.name === name);
    if (other === undefined) return;
    const message = `The operator has the secret ${name} in ${other.source === 'file' ? 'a file' : 'a variable'}.`;
    throw new SecretError('ESECRETTAKEN', message, { next: 'Choose another name, or change it there.' });
  };
  return {
    list,
    logins: openLogins(loginStore, { folder: loginFolder, onValue: known.addLogin, storeOff }),
    resolve(name, at) {
      for (const provider of providers) {
        const value = provider.resolve(name, at);
        if (value === undefined) continue;
        known.add(at.tenant, { name, value });
        return value;
      }
      const message = `There is no secret ${name}.`;
      throw new SecretError('ESECRETUNKNOWN', message, { next: 'Set it (holdpoint secrets set), then try again.' });
    },
    redactor: (tenant, names) => known.redactor(tenant, names),
    logRedactor: () => known.logRedactor(),
    async set(name, value, at) {
      assertFree(name, at.tenant);
      if (store === undefined) throw storeOff();
      known.add(at.tenant, { name, value });
      return store.set(name, value, at);
    },
    async remove(name, at) {
      assertFree(name, at.tenant);
      const removed = await store?.remove(name, at);
      if (removed !== undefined) return removed;
      throw new SecretError('ESECRETUNKNOWN', `There is no secret ${name}.`, { next: 'List the secrets.' });
    },
  };
}

/** A login changes every few minutes: older texts are forgotten, or every look at an output would take longer each day. */
const loginTexts = 4;

/** The values seen by this process, past values included: a command may still print a value from before a change. */
function openKnownValues(providers: readonly SecretProvider[], logins: SecretProvider | undefined) {
  const tenants = new Map<string, Map<string, NamedValue>>();
  const redactors = new Map<string, Redactor>();
  let stamp: string | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const add = (tenant: string, { name, value }: NamedValue) => {
    const values = tenants.get(tenant) ?? new Map<string, NamedValue>();
    tenants.set(tenant, values);
    if (values.has(`${name} ${value}`)) return;
    values.set(`${name} ${value}`, { name, value });
    redactors.clear();
  };
  const addLogin = (tenant: string, named: NamedValue) => {
    add(tenant, named);
    const values = tenants.get(tenant) ?? new Map<string, NamedValue>();
    const texts = [...values].filter(([, { name }]) => name === named.name).map(([key]) => key);
    for (const key of texts.slice(0, -loginTexts)) values.delete(key);
  };
  const look = () => {
    if (performance.now() - lookedAt < lookEveryMs) return;
    lookedAt = performance.now();
    const all = logins === undefined ? providers : [...providers, logins];
    const current = all.map((one) => one.stamp()).join('\n\n');
    if (current === stamp) return;
    for (const provider of all) {
      for (const tenant of provider.tenants()) {
        for (const { name } of provider.list(tenant)) {
          const value = provider.resolve(name, { tenant });
          if (value !== undefined) (provider === logins ? addLogin : add)(tenant, { name, value });
        }
      }
    }
    stamp = current;
  };
  const cached = (key: string, values: () => NamedValue[]): Redactor => {
    const redactor = redactors.get(key) ?? openRedactor(values());
    redactors.set(key, redactor);
    return redactor;
  };
  look();
  return {
    add,
    addLogin,
    redactor(tenant: string, names?: readonly string[]): Redactor {
      look();
      const wanted = ({ name }: NamedValue) => names === undefined || names.includes(name);
      return cached(JSON.stringify([tenant, names]), () => [...(tenants.get(tenant)?.values() ?? [])].filter(wanted));
    },
    logRedactor: (): Redactor => cached('all', () => [...tenants.values()].flatMap((values) => [...values.values()])),
  };
}

const storeOff = (): SecretError =>
  new SecretError('ESECRETSTOREOFF', 'This server has no key for its secret store.', {
    next: 'Make a key (umask 077; openssl rand -base64 32 > FILE), set HOLDPOINT_SECRETS_KEY_FILE to the file for the API and all workers, and restart.',
  });
