/** The content of an error body in the same form for all providers. */
export interface Problem {
  message?: string | undefined;
  /** All names of the error: code, type, status, reasons. */
  words: string[];
  status?: number | undefined;
  details: readonly unknown[];
  /** The window of the model in tokens (llama.cpp's `n_ctx`). */
  window?: number | undefined;
}

/**
 * Reads `{error: {message, code, type, status, details}}` or `{error: "…"}`, as text or parsed. Azure has a code in `innererror`,
 * OpenRouter a limit in `metadata`. Never throws.
 */
export function readProblem(body: unknown): Problem {
  const error = field(typeof body === 'string' ? parsed(body) : body, 'error');
  if (typeof error === 'string') return { message: error, words: [], details: [] };
  const details = field(error, 'details');
  const list: readonly unknown[] = Array.isArray(details) ? details : [];
  const names = [
    field(error, 'code'),
    field(error, 'type'),
    field(error, 'status'),
    field(field(error, 'innererror'), 'code'),
    field(field(error, 'metadata'), 'limit_source'),
    ...list.map((d) => field(d, 'reason')),
  ];
  const message = field(error, 'message');
  const status = Number(field(error, 'code'));
  const window = field(error, 'n_ctx');
  return {
    message: typeof message === 'string' ? message : undefined,
    words: names.filter((name) => typeof name === 'string'),
    status: Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined,
    details: list,
    window: Number.isSafeInteger(window) ? Number(window) : undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/**
 * The wait requested by a provider, in whole milliseconds; `undefined` without a request to wait. Reads
 * `retry-after-ms`, `retry-after` (seconds or an HTTP date), or the body's `google.rpc.RetryInfo`: Gemini sends no header.
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
