import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { calledTool, type McpServerDeps, openMcpServer } from './open-server.ts';

/**
 * Answers one request over Streamable HTTP. Requests share nothing, so any API process answers any of them.
 * @param parsedBody the JSON of the request
 */
export const answerMcp = (request: Request, parsedBody: unknown, deps: McpServerDeps): Promise<Response> =>
  createMcpHandler(() => openMcpServer(deps, calledTool(parsedBody)), { onerror: deps.onError }).fetch(request, {
    parsedBody,
  });

/** Serves on standard input and output until the client closes them. Nothing else may write to standard output. */
export const serveMcpOnStdio = (deps: McpServerDeps): { close(): Promise<void> } =>
  serveStdio(() => openMcpServer(deps), { onerror: deps.onError });
