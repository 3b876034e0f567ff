import { defaultTenant, type RunSpec, type SecretScope } from '@holdpoint/contract';
import type { RunState } from './state.ts';

/** The secrets of a run: their tenant and their names. */
export const scopeOf = (run: Pick<RunState, 'tenant'>, { secrets = [] }: Pick<RunSpec, 'secrets'>): SecretScope => ({
  tenant: run.tenant ?? defaultTenant,
  secrets,
});
