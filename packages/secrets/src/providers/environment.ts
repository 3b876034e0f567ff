import { defaultTenant, secretNameSchema } from '@holdpoint/contract';
import { SecretError } from '../errors.ts';
import { checkValue, type SecretProvider } from '../port.ts';

const environmentPrefix = 'HOLDPOINT_SECRET_';

/**
 * Secrets of the operator in variables `HOLDPOINT_SECRET_<NAME>`, and in variables listed by their own name. The secrets belong to the first
 * tenant. The function removes the variables from `env`: later readers of `env`, and programs started with this environment, do not see them.
 * @throws SecretError naming the variable
 */
export function environmentSecrets(env: NodeJS.ProcessEnv, listed: readonly string[]): SecretProvider {
  const values = new Map<string, string>();
  for (const variable of Object.keys(env)) {
    const name = variable.startsWith(environmentPrefix) ? variable.slice(environmentPrefix.length) : variable;
    if (name === variable && !listed.includes(variable)) continue;
    const value = env[variable] ?? '';
    delete env[variable];
    if (value === '') continue;
    if (!secretNameSchema.safeParse(name).success) throw noName(variable);
    values.set(name, checkValue(value, `the variable ${variable}`));
  }
  return {
    tenants: () => (values.size === 0 ? [] : [defaultTenant]),
    list: (tenant) =>
      tenant === defaultTenant
        ? [...values.keys()].map((name) => ({ name, source: 'environment', version: null, updated_at: null }))
        : [],
    resolve: (name, { tenant }) => (tenant === defaultTenant ? values.get(name) : undefined),
    stamp: () => '',
  };
}

function noName(variable: string): SecretError {
  const next = `Write a letter, then letters, digits and underscores after ${environmentPrefix}.`;
  return new SecretError('ESECRETACCESS', `The variable ${variable} names no secret.`, { next });
}
