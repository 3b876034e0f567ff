import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { listen } from './asking-server.ts';

type Answer = object | { error: { code: number; message: string } } | 'hang' | 'huge' | 'unavailable';

/** A server over HTTP whose tool `order` answers with a task. Every answer of `tasks/get` is decided by the test. */
export interface TaskServer extends Disposable {
  url: string;
  /** Each request about the tool and its tasks, in order: the method and its parameters. */
  heard: { method: string; params: Record<string, unknown> }[];
  /** Requests of a method about this task, or calls with this title. */
  of(method: string, title: string): Record<string, unknown>[];
  description: string;
  /** The task of a call. */
  begin(title: string): object;
  /** The answer to the n-th question about a task, from 1. */
  get(taskId: string, n: number): Answer;
  /** Hears the answers of a person before the server takes them. */
  update(taskId: string): Answer;
}

export const working = (taskId: string, more: object = {}) => ({
  ...{ taskId, status: 'working', createdAt: '2026-11-30T10:00:00Z', lastUpdatedAt: '2026-11-30T10:00:00Z' },
  ...{ ttlMs: null, pollIntervalMs: 1000, ...more },
});

export const completed = (taskId: string, text = `ordered ${taskId}`) => ({
  ...working(taskId),
  status: 'completed',
  result: { resultType: 'complete', content: [{ type: 'text', text }] },
});

export const plainTask = {
  begin: (title: string): object => working(title),
  get: (taskId: string, n: number): Answer => (n < 3 ? working(taskId) : completed(taskId)),
  update: (_taskId: string): Answer => ({}),
};

/** A task in need of a person's values, each under its key. */
export const asking = (taskId: string, ...keys: string[]) => ({
  ...working(taskId),
  status: 'input_required',
  inputRequests: Object.fromEntries(
    keys.map((key) => [
      key,
      {
        method: 'elicitation/create',
        params: {
          message: `Which ${key}?`,
          requestedSchema: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] },
        },
      },
    ]),
  ),
});

export async function serveTasks(): Promise<TaskServer> {
  const facts = { description: 'Orders a thing.', ...plainTask };
  const heard: TaskServer['heard'] = [];
  const of = (method: string, title: string) =>
    heard
      .filter((one) => one.method === method)
      .map(({ params }) => params)
      .filter(({ taskId, arguments: args }) => taskId === title || Object(args).title === title);
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    const input = { description: facts.description, inputSchema: z.object({ title: z.string() }) };
    server.registerTool('order', input, () => ({ content: [] }));
    return server;
  });
  const answerTo = (method: string, params: Record<string, unknown>): Answer => {
    if (method === 'tools/call') return { ...facts.begin(String(Object(params.arguments).title)), resultType: 'task' };
    const taskId = String(params.taskId);
    if (method === 'tasks/update') return facts.update(taskId);
    return method === 'tasks/cancel' ? {} : facts.get(taskId, of(method, taskId).length);
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = body === '' ? undefined : JSON.parse(body);
    if (['tools/call', 'tasks/get', 'tasks/update', 'tasks/cancel'].includes(message?.method)) {
      heard.push({ method: message.method, params: message.params });
      const answer = answerTo(message.method, message.params);
      if (answer === 'hang') return;
      if (answer === 'unavailable') return response.writeHead(503).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      if (answer === 'huge') {
        response.write(`{"jsonrpc":"2.0","id":${message.id},"result":{"resultType":"complete","status":"`);
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(1024 * 1024)));
        };
        response.on('drain', more);
        return more();
      }
      const body =
        'error' in answer && !('status' in answer) ? answer : { result: { resultType: 'complete', ...answer } };
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...body }));
    }
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const url = `http://${request.headers.host}${request.url}`;
    const answer = await handler.fetch(
      new Request(url, { method: request.method, headers, ...(body !== '' && { body }) }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await listen(server);
  return Object.assign(facts, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    ...{ heard, of },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  });
}
