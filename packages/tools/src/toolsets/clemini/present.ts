import type { Json, SettledCall } from '@holdpoint/contract';
import { errorOf } from './errors.ts';

/** The contract's result: the tool's value, or `{error, error_code, suggestions?, context?}`. */
export function presentClemini(call: SettledCall): Json {
  if (call.status === 'succeeded') return isObject(call.value) ? call.value : { result: call.value ?? null };
  const { code, text } = errorOf(call);
  const { suggestions, ...context } = isObject(call.value) ? call.value : {};
  return {
    error: text,
    error_code: code,
    ...(code === 'NEEDS_CONFIRMATION' && { needs_confirmation: true }),
    ...(suggestions !== undefined && { suggestions }),
    context: { ...context, reason: call.error?.code ?? call.status },
  };
}

const isObject = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
