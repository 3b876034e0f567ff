import { isObject } from '../match.ts';
import { type Adapter, hostsOf, textAt } from './adapter.ts';

/** The default toolset has no contract of its own; its cases try the runner. The value alone means success. */
export const holdpoint: Adapter = {
  fields: ({ config: { url_allowlist, deterministic, registry }, context: { permissions, dryRun } }) => ({
    network: url_allowlist && { allow: hostsOf(url_allowlist) },
    permissions,
    modes: { read_only: registry === 'read-only', deterministic, dry_run: dryRun },
  }),
  ok: (native) => !(isObject(native) && typeof native.status === 'string' && isObject(native.error)),
  errorCode: (native) => textAt(native, 'error', 'code'),
  root: (native) => native,
};
