import type { Json, SettledCall } from '@holdpoint/contract';

/** The value of a successful call; for every other end the status, the error and the tool's value. */
export function presentPlainly({ status, value, error }: SettledCall): Json {
  if (status === 'succeeded') return value ?? null;
  return { status, ...(error && { error: { ...error } as Json }), ...(value === undefined ? {} : { value }) };
}
