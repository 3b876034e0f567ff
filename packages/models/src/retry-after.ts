/**
 * The wait that a provider asks for, in whole milliseconds; `undefined` when it asks for none.
 * Reads `retry-after-ms`, `retry-after` (seconds or an HTTP date), or the body's `google.rpc.RetryInfo`:
 * Gemini sends no header.
 */
export function readRetryAfter(
  deps: { now: () => number },
  answer: { headers: Record<string, string>; details: readonly unknown[] },
): number | undefined {
  const wait =
    numeric(answer.headers['retry-after-ms'], 1) ??
    numeric(answer.headers['retry-after'], 1000) ??
    untilDate(answer.headers['retry-after'], deps.now()) ??
    fromRetryInfo(answer.details);
  return wait === undefined ? undefined : Math.max(0, Math.ceil(wait));
}

function numeric(text: string | undefined, unit: number): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * unit : undefined;
}

function untilDate(text: string | undefined, now: number): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at - now;
}

function fromRetryInfo(details: readonly unknown[]): number | undefined {
  for (const detail of details) {
    if (typeof detail !== 'object' || detail === null) continue;
    const { '@type': type, retryDelay } = detail as Record<string, unknown>;
    if (typeof type !== 'string' || !type.endsWith('google.rpc.RetryInfo') || typeof retryDelay !== 'string') continue;
    return numeric(retryDelay.replace(/s$/, ''), 1000);
  }
  return undefined;
}
