import { defaultTenant, type RunSpec, type SecretScope } from '@holdpoint/contract';
import type { RunState } from './state.ts';

/** Whose secrets a run uses, and which. */
export const scopeOf = (_run: RunState, { secrets = [] }: Pick<RunSpec, 'secrets'>): SecretScope => ({
  tenant: defaultTenant,
  secrets,
});
