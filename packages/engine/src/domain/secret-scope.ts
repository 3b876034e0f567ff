import { defaultTenant, type RunSpec, type SecretScope } from '@holdpoint/contract';
import type { RunState } from './state.ts';

/** Whose secrets a run uses, and which. */
export const scopeOf = (run: Pick<RunState, 'tenant'>, { secrets = [] }: Pick<RunSpec, 'secrets'>): SecretScope => ({
  tenant: run.tenant ?? defaultTenant,
  secrets,
});
