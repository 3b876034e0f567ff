import { type Adapter, field, textAt } from './adapter.ts';

export const sage: Adapter = {
  fields: ({ config: { bash_allowlist, limits, registry, deterministic }, context: { permissions, dryRun, env } }) => ({
    settings: { bash_allowlist, limits, env },
    permissions: permissions?.map((one) => (one === 'exec:**' ? 'exec:*' : one)),
    modes: { read_only: registry === 'read-only', deterministic, dry_run: dryRun },
  }),
  ok: (native) => field(native, 'ok') === true,
  errorCode: (native) => textAt(native, 'error', 'code'),
  root: (native) => native,
};
