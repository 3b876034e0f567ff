import { type Adapter, field, textAt } from './adapter.ts';

export const cliAgent: Adapter = {
  fields: ({ config: { allow_loopback }, stubs }) => (allow_loopback ? { network: { allow: [...stubs] } } : {}),
  ok: (native) => field(native, 'success') === true,
  errorCode: (native) => textAt(native, 'error', 'code'),
  root: (native) => native,
  givenCodes: ['path_outside_working_dir', 'file_not_found'],
};
