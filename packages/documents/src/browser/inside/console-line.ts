type Params = Record<string, unknown>;

/** A line for an event of the console: errors, warnings, failed assertions and uncaught exceptions. */
export function consoleLine(method: string, params: Params): string | undefined {
  const line = lineOf(method, params);
  return line?.replace(/\s+/g, ' ').slice(0, 300).toWellFormed();
}

function lineOf(method: string, params: Params): string | undefined {
  if (method === 'Runtime.consoleAPICalled') {
    const { type, args } = params as { type: string; args: { value?: unknown; description?: string }[] };
    if (!['error', 'warning', 'assert'].includes(type)) return undefined;
    return `${type}: ${args.map(({ value, description }) => description ?? String(value)).join(' ')}`;
  }
  if (method === 'Runtime.exceptionThrown') {
    const { exceptionDetails: thrown } = params as {
      exceptionDetails: { text: string; exception?: { description?: string } };
    };
    return `uncaught: ${thrown.exception?.description ?? thrown.text}`;
  }
  if (method === 'Log.entryAdded') {
    const { entry } = params as { entry: { level: string; text: string; url?: string } };
    return entry.level === 'error' ? `error: ${entry.text}${entry.url ? ` (${entry.url})` : ''}` : undefined;
  }
  return undefined;
}
