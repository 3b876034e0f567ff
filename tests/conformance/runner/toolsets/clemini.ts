import { isObject, missing } from '../match.ts';
import { type Adapter, field, textAt } from './adapter.ts';

export const clemini: Adapter = {
  fields: () => ({}),
  ok: (native) => isObject(native) && field(native, 'error') === missing,
  errorCode: (native) => textAt(native, 'error_code'),
  root: (native) => native,
};
