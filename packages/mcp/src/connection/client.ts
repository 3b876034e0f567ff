import type { CommandEnd } from '@holdpoint/contract';
import type { Conversation, Converse, ConverseKept, Network } from '@holdpoint/tools';
import * as mcp from '@modelcontextprotocol/client';
import { bounds } from '../bounds.ts';
import { McpError } from '../errors.ts';
import { type HttpServer, isHttp, type McpServer, type StdioServer } from '../servers.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { LinesTransport } from './lines-transport.ts';

const mark = 'holdpoint/task';

/** Lets tasks pass in the place of results. The library knows no tasks here: it gets an empty result with the task in `_meta`. */
function markTasks(transport: mcp.Transport): void {
  const pass = transport.onmessage;
  if (pass === undefined) return;
  transport.onmessage = (message, extra) => {
    if (!mcp.isJSONRPCResultResponse(message) || message.result.resultType !== 'task') return pass(message, extra);
    const result = { resultType: 'complete', content: [], _meta: { [mark]: message.result } };
    return pass({ ...message, result }, extra);
  };
}

/** The task of an answer; undefined for another answer. */
export const taskIn = ({ _meta }: Pick<mcp.CallToolResult, '_meta'>): unknown => _meta?.[mark];

/** The ways to servers: a network for requests, and a sandbox for programs. */
export interface Way {
  network?: Pick<Network, 'fetch'> | undefined;
  converse?: Converse | undefined;
  /** For kept programs, and the pin of the program. */
  kept?: { converse: ConverseKept; pin: string } | undefined;
  signal: AbortSignal;
}

/** The first revision without a handshake. */
export const statelessSince = '2026-07-28';

/** Capabilities of a client with a person for the questions of servers. */
export const answersQuestions = { elicitation: { form: {} } };

/** A connection to a server. */
export interface Connected {
  client: mcp.Client;
  /** The server reported a change of its tools since the last look. */
  hasOtherTools: boolean;
}

/**
 * Connects to a server, and closes the connection when the work settles. A kept program keeps its connection for the next work.
 * @param known.protocol the server's revision; undefined: the client asks for the revision
 * @throws McpError, an error of the network, SandboxError
 */
export async function withClient<Result>(
  { name, server, protocol }: { name: string; server: McpServer; protocol?: string | undefined },
  way: Way,
  work: (connected: Connected) => Promise<Result>,
): Promise<Result> {
  const asked = { name, protocol, work };
  if (isHttp(server)) return overHttp(server, way, asked);
  if (way.kept !== undefined && mayStay(server))
    return overKeptLines(server, way.kept, { ...asked, signal: way.signal });
  return overLines(server, way, asked);
}

/** Whether the sandbox keeps the program from changing anything between two calls. */
const mayStay = ({ workspace, network }: StdioServer): boolean => workspace === 'read' && !network;

interface Work<Result> {
  name: string;
  protocol: string | undefined;
  work(connected: Connected): Promise<Result>;
}

const clientFor = (protocol: string | undefined): mcp.Client =>
  new mcp.Client({ name: 'holdpoint', version: '1.0.0' }, optionsFor(protocol));

async function overHttp<Result>(
  { url, headers, timeout_s }: HttpServer,
  { network, signal }: Way,
  { name, protocol, work }: Work<Result>,
): Promise<Result> {
  const client = clientFor(protocol);
  if (network === undefined) {
    const message = `The MCP server ${name} is out of reach of this call: the run may not reach its host, or the host is no public address.`;
    throw new McpError(
      'EMCPSERVER',
      message,
      'Have the host permitted to the run, or name its address in HOLDPOINT_ALLOW_ADDRESSES.',
    );
  }
  let failure: { error: unknown } | undefined;
  const target = new URL(url);
  const transport = new mcp.StreamableHTTPClientTransport(target, {
    fetch: guardedFetch(network, {
      url: target,
      timeoutMs: timeout_s * 1000,
      signal,
      onFailure: (error) => {
        failure ??= { error };
      },
    }),
    requestInit: { headers: plainHeaders(headers) },
    reconnectionOptions: {
      initialReconnectionDelay: 0,
      maxReconnectionDelay: 0,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 0,
    },
  });
  try {
    return await connected(client, transport, { timeoutMs: timeout_s * 1000, signal, work });
  } catch (error) {
    throw failure?.error ?? serverError(name, error);
  } finally {
    // The server need not keep the session.
    if (transport.sessionId !== undefined) await transport.terminateSession().catch(() => {});
    await client.close().catch(() => {});
  }
}

/** Headers with secrets are added where the request leaves. */
const plainHeaders = (headers: HttpServer['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((one): one is [string, string] => typeof one[1] === 'string'));

async function overLines<Result>(
  { command, args, env, workspace, network, timeout_s }: StdioServer,
  { converse, signal }: Way,
  { name, protocol, work }: Work<Result>,
): Promise<Result> {
  if (converse === undefined)
    throw new McpError('EMCPSERVER', `The call cannot start ${name}.`, 'Call it in a run that may write.');
  const client = clientFor(protocol);
  const talk = async (lines: Conversation): Promise<Result> => {
    try {
      return await connected(client, new LinesTransport(lines), { timeoutMs: timeout_s * 1000, signal, work });
    } finally {
      await client.close().catch(() => {});
    }
  };
  const said = await converse(
    {
      argv: [command, ...args],
      env,
      network,
      read_only: workspace === 'read',
      limits: { wall_ms: (timeout_s + 30) * 1000 },
    },
    talk,
  );
  return talkValue(name, network, said);
}

/** The next work finds the program and its connection. */
async function overKeptLines<Result>(
  { command, args, env, network, timeout_s }: StdioServer,
  { converse, pin }: NonNullable<Way['kept']>,
  { name, protocol, work, signal }: Work<Result> & { signal: AbortSignal },
): Promise<Result> {
  const open = async (lines: Conversation): Promise<Connected> => {
    const timeoutMs = timeout_s * 1000;
    // The connection outlives its first call, so no signal of a call ends the connection.
    const never = new AbortController().signal;
    const work = async (connected: Connected) => connected;
    return connected(clientFor(protocol), new LinesTransport(lines), { timeoutMs, signal: never, work });
  };
  // A server in order also answers with errors of the protocol.
  const isSound = (error: unknown): boolean => mcp.ProtocolError.isInstance(error);
  const said = await converse({ name, pin, argv: [command, ...args], env, open, isSound }, work);
  if (said.talk.status === 'rejected' && signal.aborted) throw said.talk.reason;
  return talkValue(name, network, said);
}

/** @throws McpError with the last words of the program when the talk failed */
function talkValue<Result>(
  name: string,
  network: boolean,
  said: Awaited<ReturnType<Converse>> & { talk: PromiseSettledResult<Result> },
): Result {
  if (said.talk.status === 'fulfilled') return said.talk.value;
  const { end, stderr } = said;
  const how = end === undefined ? '' : `It ended: ${endText(end)}.`;
  const words = stderr.trim() === '' ? '' : `stderr:\n${stderr.trim()}`;
  throw serverError(name, said.talk.reason, { more: [how, words], next: nextOfProgram(network) });
}

function endText(end: CommandEnd): string {
  if (end.status === 'exited') return `exit code ${end.exit_code}`;
  return end.status === 'killed' ? end.reason : end.status;
}

const nextOfProgram = (network: boolean): string =>
  network
    ? 'Try again, or continue without the server.'
    : 'Try again, or continue without the server. Its program runs in a sandbox without a network, so it has to be installed on the host: npx, uvx and docker fetch nothing there.';

async function connected<Result>(
  client: mcp.Client,
  transport: mcp.Transport,
  { timeoutMs, signal, work }: { timeoutMs: number; signal: AbortSignal; work(connected: Connected): Promise<Result> },
): Promise<Result> {
  const connection: Connected = { client, hasOtherTools: false };
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    connection.hasOtherTools = true;
  });
  await client.connect(transport, { timeout: timeoutMs, signal });
  markTasks(transport);
  return work(connection);
}

function optionsFor(protocol: string | undefined): mcp.ClientOptions {
  const mode = protocol === undefined ? 'auto' : protocol >= statelessSince ? { pin: protocol } : 'legacy';
  return {
    // A server without a handshake may ask in its answers. Others would ask in requests of their own, which end with the connection.
    capabilities: protocol !== undefined && protocol >= statelessSince ? answersQuestions : {},
    versionNegotiation: { mode, probe: { timeoutMs: 5000 } },
    inputRequired: { autoFulfill: false },
    // Checks of structured content are left out: the server wrote both the content and its schema.
    jsonSchemaValidator: {
      getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
    },
    listMaxPages: bounds.pages,
  };
}

function serverError(
  name: string,
  error: unknown,
  { more = [], next = 'Try again, or continue without the server.' }: { more?: readonly string[]; next?: string } = {},
): unknown {
  if (error instanceof McpError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const message = [`The MCP server ${name} failed: ${said.slice(0, 2000)}`, ...more].filter((part) => part !== '');
  return new McpError('EMCPSERVER', message.join('\n'), next, { cause: error });
}
