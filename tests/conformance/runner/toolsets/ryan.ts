import { type Adapter, field } from './adapter.ts';

export const ryan: Adapter = {
  fields: ({ config: { bash_timeout_ms: timeout_ms } }) =>
    timeout_ms === undefined ? {} : { settings: { timeout_ms } },
  ok: (native) => field(native, 'success') === true,
  errorCode: () => undefined,
  root: (native) => native,
};
