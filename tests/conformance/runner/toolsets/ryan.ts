import { type Adapter, field } from './adapter.ts';

export const ryan: Adapter = {
  fields: ({ config: { timeout_ms: bash_timeout_ms } }) => (bash_timeout_ms === undefined ? {} : { settings: { bash_timeout_ms } }),
  ok: (native) => field(native, 'success') === true,
  errorCode: () => undefined,
  root: (native) => native,
};
