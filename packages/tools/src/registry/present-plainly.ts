import type { Json, SettledCall } from '@holdpoint/contract';

/** The value of a call that succeeded; of every other end its status, its error and what the tool returned with it. */
export function presentPlainly({ status, value, error }: SettledCall): Json {
  if (status === 'succeeded') return value ?? null;
  return { status, ...(error && { error: { ...error } as Json }), ...(value === undefined ? {} : { value }) };
}
