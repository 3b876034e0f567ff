import type { SecretScope } from '@holdpoint/contract';
import type { Secrets } from '@holdpoint/secrets';

/**
 * Environment variables of a command, with the values of secrets. Call `secretVariables` just before the command starts. @throws
 * SecretError
 */
export function secretVariables(secrets: Secrets, { tenant, secrets: uses }: SecretScope): Record<string, string> {
  return Object.fromEntries(
    uses.flatMap(({ name, as }) => ('env' in as ? [[as.env, secrets.resolve(name, { tenant })] as const] : [])),
  );
}

/** The value of the secret behind `$ENV.NAME`. @throws SecretError */
export const placeholderOf =
  (secrets: Secrets, { tenant, secrets: uses }: SecretScope) =>
  (name: string): string | undefined =>
    uses.some((use) => use.name === name && 'placeholder' in use.as) ? secrets.resolve(name, { tenant }) : undefined;

/** Names of the secrets for the commands of the run. */
export const secretsOfCommands = ({ secrets: uses }: SecretScope): string[] => [
  ...new Set(uses.flatMap(({ name, as }) => ('env' in as || 'header' in as ? [name] : []))),
];
