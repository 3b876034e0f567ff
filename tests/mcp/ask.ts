/** A request of the revision 2026-07-28 to `/mcp`, without a library between. */
export interface Asking {
  /** Address of an API. */
  url: string;
  key: string;
  /** Declares the extension for tasks, as each request does. */
  followsTasks?: boolean;
}

interface Task {
  resultType?: string;
  taskId?: string;
  status?: string;
  statusMessage?: string;
  createdAt?: string;
  lastUpdatedAt?: string;
  ttlMs?: number | null;
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  result?: { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, unknown> };
}

/** @returns the result or the error of the answer */
export async function ask(
  { url, key, followsTasks = false }: Asking,
  method: string,
  params: Record<string, unknown> = {},
): Promise<{ result?: Task; error?: { code: number; message: string; data?: unknown } }> {
  const revision = '2026-07-28';
  const extensions = followsTasks ? { 'io.modelcontextprotocol/tasks': {} } : {};
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'a-client', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions },
  };
  const name = params.name ?? params.taskId ?? params.uri;
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}
