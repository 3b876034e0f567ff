import type { SecretScope } from '@holdpoint/contract';
import type { Secrets } from '@holdpoint/secrets';

/** The variables of a command that are secrets. Call it just before the command starts. @throws SecretError */
export function secretVariables(secrets: Secrets, { tenant, secrets: uses }: SecretScope): Record<string, string> {
  return Object.fromEntries(
    uses.flatMap(({ name, as }) => ('env' in as ? [[as.env, secrets.resolve(name, { tenant })] as const] : [])),
  );
}

/** The secret that `$ENV.NAME` stands for. @throws SecretError */
export const placeholderOf =
  (secrets: Secrets, { tenant, secrets: uses }: SecretScope) =>
  (name: string): string | undefined =>
    uses.some((use) => use.name === name && 'placeholder' in use.as) ? secrets.resolve(name, { tenant }) : undefined;

/** Names of the secrets that a command of the run can use. */
export const secretsOfCommands = ({ secrets: uses }: SecretScope): string[] => [
  ...new Set(uses.flatMap(({ name, as }) => ('env' in as || 'header' in as ? [name] : []))),
];
