import { defaultTenant, type RunSpec, type SecretScope } from '@holdpoint/contract';
import type { RunState } from './state.ts';

/** The tenant and the names of the secrets of a run. */
export const scopeOf = (run: Pick<RunState, 'tenant'>, { secrets = [] }: Pick<RunSpec, 'secrets'>): SecretScope => ({
  tenant: run.tenant ?? defaultTenant,
  secrets,
});
