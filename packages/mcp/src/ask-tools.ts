import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { bounds } from './bounds.ts';
import { statelessSince, type Way, withClient } from './connection/client.ts';
import { McpError } from './errors.ts';
import { type Accepted, isHttp, type McpServer, type PinnedTool, pin, pinnedToolSchema } from './servers.ts';
import { toolName } from './tool-name.ts';

export type { Way } from './connection/client.ts';

/** A server's present description of itself and its tools. */
export type AskedTools = Omit<Accepted, 'at' | 'by' | 'entry' | 'seal'>;

/** The revision of the first question to a program. Programs of this revision may never answer the question of a later one. */
const knownByAll = '2025-11-25';

/** Asks a server for its tools, to show them to a person. @throws McpError, an error of the network, SandboxError */
export async function askTools(name: string, server: McpServer, way: Way): Promise<AskedTools> {
  if (isHttp(server)) return askLatest({ name, server }, way);
  let first: AskedTools;
  try {
    first = await askAs({ name, server, protocol: knownByAll }, way);
  } catch (error) {
    // A later program refuses the old handshake with an answer; without an answer there is nothing to ask again.
    if (!(error instanceof McpError && error.cause instanceof ProtocolError)) throw error;
    return askLatest({ name, server }, way);
  }
  // A program of both revisions can ask a person only in the later one.
  const later = await askLatest({ name, server }, way).catch(() => undefined);
  return later !== undefined && later.protocol >= statelessSince ? later : first;
}

/** Finds the server's revision, and asks as a call of that revision asks: a server may show its tools by what the client is able to do. */
async function askLatest(asked: { name: string; server: McpServer }, way: Way): Promise<AskedTools> {
  const found = await askAs(asked, way);
  return found.protocol >= statelessSince ? askAs({ ...asked, protocol: found.protocol }, way) : found;
}

const askAs = (asked: { name: string; server: McpServer; protocol?: string }, way: Way): Promise<AskedTools> =>
  withClient(asked, way, async ({ client }) => {
    const { name } = asked;
    const { tools, left_out } = await listed(name, client);
    const { name: own = '', version = '' } = client.getServerVersion() ?? {};
    return {
      protocol: client.getNegotiatedProtocolVersion() ?? '',
      server: `${own} ${version}`.trim().slice(0, 300),
      digest: pin(tools),
      tools,
      left_out,
    };
  });

/** The tools of a connected server, and why others cannot be used. @throws McpError for more tools than a server may have */
export async function listed(
  name: string,
  client: Client,
): Promise<{ tools: PinnedTool[]; left_out: Record<string, string> }> {
  const { tools: said } = await client.listTools(undefined, { cacheMode: 'refresh' });
  if (said.length > bounds.tools) {
    const message = `The MCP server ${name} has ${said.length} tools; at most ${bounds.tools} are taken.`;
    throw new McpError('EMCPSERVER', message, 'Let the server offer fewer tools.');
  }
  const tools: PinnedTool[] = [];
  const left_out: Record<string, string> = {};
  for (const { name: tool, description = '', inputSchema, annotations } of said) {
    const read = pinnedToolSchema.safeParse({
      name: tool,
      description,
      input_schema: inputSchema,
      hints: { destructive: annotations?.destructiveHint === true },
    });
    // The name for models decides: a server may choose a name that equals the hashed name of another tool.
    const isTwice = tools.some((one) => toolName(name, one.name) === toolName(name, tool));
    if (read.success && !isTwice) tools.push(read.data);
    else left_out[tool.slice(0, bounds.name)] = isTwice ? 'it is named twice' : (read.error?.issues[0]?.message ?? '');
  }
  return { tools, left_out };
}
