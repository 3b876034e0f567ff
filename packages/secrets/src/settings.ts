import { isAbsolute, join } from 'node:path';
import { secretNameSchema } from '@holdpoint/contract';
import { SecretError } from './errors.ts';
import { loginFolderOf } from './logins.ts';
import type { KeySource } from './providers/store-key.ts';

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
