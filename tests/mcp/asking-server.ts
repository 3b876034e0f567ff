import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { appEnv, projectDir } from '../harness/index.ts';

/** A call as the server got it. */
interface HeardCall {
  title: string;
  answers: unknown;
  state: unknown;
}

/** A server over HTTP that asks questions before its tool `order` continues, made with the library of the protocol's project. */
export interface AskingServer extends Disposable {
  url: string;
  /** Every request of the tool that arrived, in order. */
  calls: HeardCall[];
  /** Calls with this title. */
  of(title: string): HeardCall[];
  /** Number of questions per call. */
  rounds: number;
  description: string;
  /** The result of the next calls, in place of a question. */
  raw: object | undefined;
  /** Calls with answers hang from now on. */
  hangs: boolean;
}

const form = z.object({ colour: z.enum(['red', 'blue']), count: z.int().min(1).max(5) });

export async function serveQuestions(): Promise<AskingServer> {
  const facts = { rounds: 1, description: 'Orders a thing.', raw: undefined as object | undefined, hangs: false };
  const calls: HeardCall[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    server.registerTool(
      'order',
      { description: facts.description, inputSchema: z.object({ title: z.string() }) },
      async ({ title }, { mcpReq }) => {
        const answered = acceptedContent(mcpReq.inputResponses, 'choice', form);
        calls.push({ title, answers: mcpReq.inputResponses ?? null, state: mcpReq.requestState() ?? null });
        const round = Number(/round (\d+)/.exec(String(mcpReq.requestState() ?? ''))?.[1] ?? 0);
        if (answered !== undefined && facts.hangs) await new Promise(() => {});
        if (round < facts.rounds) {
          return inputRequired({
            inputRequests: {
              choice: inputRequired.elicit({ message: `Which one for ${title}?`, requestedSchema: form }),
            },
            requestState: `round ${round + 1} ünï "\\u200b"`,
          });
        }
        return { content: [{ type: 'text', text: `ordered ${answered?.count} ${answered?.colour}` }] };
      },
    );
    return server;
  });
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = body === '' ? undefined : JSON.parse(body);
    if (message?.method === 'tools/call' && facts.raw !== undefined) {
      const { arguments: args, inputResponses = null, requestState = null } = message.params;
      calls.push({ title: args.title, answers: inputResponses, state: requestState });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: facts.raw }));
      return;
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
    calls,
    of: (title: string) => calls.filter((call) => call.title === title),
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  });
}

export const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

/** A directory for a file of servers, and the settings that name the file. `accept` adds and accepts the servers, in the installation of a system. */
export async function acceptedServers(
  serversIn: (directory: string) => Promise<Record<string, readonly string[]>> | Record<string, readonly string[]>,
) {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-questions-'));
  chmodSync(directory, 0o755);
  const settings = {
    HOLDPOINT_MCP_SERVERS: join(directory, 'servers.json'),
    HOLDPOINT_TOOLCHAINS: directory,
    HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.0/8',
  };
  const servers = await serversIn(directory);
  return {
    directory,
    settings,
    async accept({ dataDir }: { dataDir: string }) {
      const holdpoint = (...args: string[]) =>
        promisify(execFile)(process.execPath, [join(projectDir, 'apps/cli/src/main.ts'), 'mcp', ...args], {
          env: { ...appEnv, ...settings, HOLDPOINT_DATA: dataDir },
        });
      for (const [name, how] of Object.entries(servers)) {
        await holdpoint('add', name, ...how);
        await holdpoint('accept', name, '--yes');
      }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export const allowShop = { rules: [{ match: { tool: 'mcp__shop__order' }, action: 'allow' as const }] };
