import { InvalidResponseDataError, JSONParseError, TypeValidationError } from 'ai';
import type { Failure } from './failure.ts';
import { StreamFailure } from './fold-stream.ts';
import { readProblem } from './read-problem.ts';

/** Reads the error of a stream that failed after its status 200. `undefined`: not an error of a stream. */
export function readStreamFailure(error: unknown): Failure | undefined {
  const base = { status: 200, headers: {} };
  if (error instanceof StreamFailure) {
    const { message, sent } = error;
    if (sent === undefined) return { ...base, kind: 'broken', body: '', message };
    const data = field(sent, 'data') ?? sent;
    const status = Number(field(sent, 'statusCode') ?? 200);
    return { ...base, kind: 'failed', status, body: withError(data), message };
  }
  if (TypeValidationError.isInstance(error)) {
    const body = withError(error.value);
    const isError = body !== undefined && field(body, 'error') !== error.value;
    const { message = 'an event has an unknown form' } = isError ? readProblem(body) : {};
    return { ...base, kind: isError ? 'failed' : 'unreadable', body: isError ? body : '', message };
  }
  if (JSONParseError.isInstance(error)) return { ...base, kind: 'broken', body: '', message: 'an event is not JSON' };
  // The SDK has no data here when a stream ends without saying why.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined) {
    return { ...base, kind: 'broken', body: '', message: 'the stream ended early' };
  }
  return undefined;
}

/** `{error}` from the three forms of the providers: `{error}`, `{response: {error}}`, or the error alone. */
function withError(data: unknown): unknown {
  if (field(data, 'error') !== undefined) return data;
  const response = field(data, 'response');
  return field(response, 'error') === undefined ? { error: data } : response;
}

function field(value: unknown, name: string): unknown {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return found ?? undefined;
}
