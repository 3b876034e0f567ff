import { isObject, missing } from '../match.ts';
import { type Adapter, field, textAt } from './adapter.ts';

export const clemini: Adapter = {
  fields: ({ config: { allow_loopback }, stubs }) => (allow_loopback ? { network: { allow: [...stubs] } } : {}),
  ok: (native) => isObject(native) && field(native, 'error') === missing,
  errorCode: (native) => textAt(native, 'error_code'),
  root: (native) => native,
};
