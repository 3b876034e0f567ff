/** The content of an error body in one form for all providers. */
export interface Problem {
  message?: string | undefined;
  /** All names of the error: code, type, status, reasons. */
  words: string[];
  status?: number | undefined;
  details: readonly unknown[];
}

/** Reads `{error: {message, code, type, status, details}}` or `{error: "…"}`, as text or parsed. Never throws. */
export function readProblem(body: unknown): Problem {
  const error = field(typeof body === 'string' ? parsed(body) : body, 'error');
  if (typeof error === 'string') return { message: error, words: [], details: [] };
  const details = field(error, 'details');
  const list: readonly unknown[] = Array.isArray(details) ? details : [];
  const names = [
    field(error, 'code'),
    field(error, 'type'),
    field(error, 'status'),
    ...list.map((d) => field(d, 'reason')),
  ];
  const message = field(error, 'message');
  const status = Number(field(error, 'code'));
  return {
    message: typeof message === 'string' ? message : undefined,
    words: names.filter((name) => typeof name === 'string'),
    status: Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined,
    details: list,
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
