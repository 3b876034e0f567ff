import { openSecrets, type Secrets, secretSettingsFrom } from '@holdpoint/secrets';

/** The secrets and addresses of an operator's command, by the settings of the workers. @throws SecretError */
export function operatorMeans({
  dataDir,
  environment,
}: {
  dataDir: string;
  environment: Readonly<Record<string, string>>;
}): { secrets: Secrets; allowAddresses: string[] } {
  const allowed = environment.HOLDPOINT_ALLOW_ADDRESSES ?? '';
  return {
    secrets: openSecrets(secretSettingsFrom({ ...environment }, { dataDir })),
    allowAddresses: allowed.split(',').filter((range) => range !== ''),
  };
}
