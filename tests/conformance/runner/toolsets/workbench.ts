import { type Adapter, field, textAt } from './adapter.ts';

export const workbench: Adapter = {
  fields: ({ config: { url_allowlist } }) => (url_allowlist === undefined ? {} : { settings: { url_allowlist } }),
  ok: (native) => field(native, 'ok') === true,
  errorCode: (native) => textAt(native, 'error', 'code'),
  root: (native) => (field(native, 'ok') === true ? field(native, 'value') : native),
  givenCodes: ['INVALID_PATH', 'FILE_NOT_FOUND', 'PERMISSION_DENIED', 'TIMEOUT', 'EXECUTION_ERROR'],
};
