import { openSecrets, type Secrets } from '../open-secrets.ts';

/** A process whose operator has set no secrets. */
export const noSecrets: Secrets = openSecrets({
  environment: {},
  variables: [],
  folder: undefined,
  storeFolder: '/nonexistent',
  key: undefined,
});
