import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { allParts, type McpServerDeps, openMcpServer, partsFor } from './open-server.ts';

/**
 * Answers one request over Streamable HTTP. Requests share nothing, so any API process answers any of them.
 * @param parsedBody the JSON of the request
 */
export const answerMcp = (request: Request, parsedBody: unknown, deps: McpServerDeps): Promise<Response> =>
  createMcpHandler((context) => openMcpServer(deps, context, partsFor(parsedBody)), { onerror: deps.onError }).fetch(
    request,
    {
      parsedBody,
    },
  );

/** Serves on standard input and output until the client closes them. Nothing else may write to standard output. */
export const serveMcpOnStdio = (deps: McpServerDeps): { close(): Promise<void> } =>
  serveStdio((context) => openMcpServer(deps, context, allParts), { onerror: deps.onError });
