import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { appEnv, projectDir } from '../harness/index.ts';

export const revision = '2026-07-28';

/** The envelope of a request of 2026-07-28, of a client that can do everything. */
const envelope = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'adversary', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {
    ...{ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

/** An API, and the key of an agent. */
interface Door {
  url: string;
  key: string;
}

interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

/** Sends a message and returns the answer as text. */
export type Send = (message: Message) => Promise<string>;

/** Over HTTP, as a client of this revision. A stream without an end is left after its time. */
export const overHttp =
  ({ url, key }: Door, isModern: boolean): Send =>
  async ({ params = {}, ...message }) => {
    const name = params.name ?? params.uri ?? params.taskId;
    const modernHeaders = {
      'mcp-method': message.method ?? '',
      ...(typeof name === 'string' && /^[\x20-\x7e]*$/.test(name) && { 'mcp-name': name }),
    };
    const answer = await fetch(new URL('/mcp', url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': isModern ? revision : '2025-11-25',
        ...(isModern && modernHeaders),
        // Ways in which servers are made to take another request for this one.
        'x-http-method-override': 'PUT',
        'x-original-url': '/v1/approvals',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', ...message },
        params: isModern ? { ...params, _meta: { ...envelope, ...(params._meta as object) } } : params,
      }),
      signal: AbortSignal.timeout(message.method === 'subscriptions/listen' ? 300 : 20_000),
    });
    return answer.text().catch(() => 'a stream');
  };

/** Over the standard input of `holdpoint mcp`. Messages without an id have no answer. */
export function overStdio({ url, key }: Door): { send: Send; end(): void } {
  const child = spawn(process.execPath, [join(projectDir, 'apps/cli/src/main.ts'), 'mcp'], {
    env: { PATH: appEnv.PATH, HOME: appEnv.HOME, HOLDPOINT_URL: url, HOLDPOINT_KEY: key },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting = new Map<unknown, (line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => waiting.get(JSON.parse(line).id)?.(line));
  let last = 0;
  const send: Send = ({ params = {}, ...message }) => {
    const id = message.id === undefined ? undefined : ++last;
    const isAnswered = id !== undefined && message.method !== undefined && message.method !== 'subscriptions/listen';
    const answer = new Promise<string>((resolve) => (isAnswered ? waiting.set(id, resolve) : resolve('')));
    const _meta = { ...envelope, ...(params._meta as object) };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message, id, params: { ...params, _meta } })}\n`);
    return answer;
  };
  return { send, end: () => child.kill('SIGKILL') };
}

/** Every method that the library of the protocol knows, in any revision, and those that it leaves to extensions. */
export function everyMethod(): string[] {
  const folder = join(projectDir, 'node_modules/@modelcontextprotocol/server/dist');
  const text = readdirSync(folder)
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const named = [...text.matchAll(/literal\("([a-z]+(?:\/[a-zA-Z_]+)+|ping|initialize)"\)/g)].map(
    ([, name = '']) => name,
  );
  const more = ['server/discover', 'subscriptions/listen', 'tasks/update', 'tasks/approve', 'notifications/tasks'];
  return [...new Set([...named, ...more])];
}
