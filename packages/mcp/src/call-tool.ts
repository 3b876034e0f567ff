import type { ToolOutcome } from '@holdpoint/contract';
import { networkFailure, type ToolContext } from '@holdpoint/tools';
import { type Client, isInputRequiredResult } from '@modelcontextprotocol/client';
import { listed } from './ask-tools.ts';
import { type Connected, taskIn, withClient } from './connection/client.ts';
import { McpError } from './errors.ts';
import { askAgain, askTask, beginWait, declaring, nextAfterCall } from './follow-task.ts';
import { againWith, readQuestion } from './read-question.ts';
import { readResult } from './read-result.ts';
import { type Accepted, type AcceptedServer, acceptanceDigest, type PinnedTool, pin as pinOf } from './servers.ts';

/** Calls a tool of a server, or asks for the result of a call that the server makes as a task, unless the server describes its tools differently since a person accepted them. @throws SandboxError, and any error after an abort */
export async function callTool(
  served: AcceptedServer,
  tool: PinnedTool,
  context: ToolContext,
  args: Record<string, unknown>,
): Promise<ToolOutcome> {
  const { name, server, accepted } = served;
  const { network, converse, converseKept, signal, awaited } = context;
  const { protocol } = accepted;
  try {
    const pin = acceptanceDigest(name, server, accepted.digest);
    const kept = converseKept && { converse: converseKept, pin };
    return await withClient({ name, server, protocol }, { network, converse, kept, signal }, async (connected) => {
      const { client } = connected;
      await verified(accepted, connected, () => check(name, client, accepted));
      if (awaited !== undefined) return askTask(served, context, client, { ...awaited, tool: tool.name });
      const timeout = server.timeout_s * 1000;
      const result = await client.callTool(
        { name: tool.name, arguments: args, ...againWith(context.answered), ...declaring(served) },
        { timeout, signal, allowInputRequired: true },
      );
      const begun = taskIn(result);
      if (begun !== undefined) return beginWait(served, context, begun);
      if (!isInputRequiredResult(result)) return readResult(result);
      const asked = readQuestion(result, { server: name, tool: tool.name, round: (context.answered?.round ?? 0) + 1 });
      return { status: 'deferred', on: asked };
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const again = awaited && askAgain(context, awaited, error);
    if (again !== undefined) return again;
    if (error instanceof McpError) {
      const next = awaited === undefined ? error.next : nextAfterCall(error);
      return { status: 'failed', error: { code: error.code, message: error.message, next } };
    }
    const refused = networkFailure(error);
    if (refused === undefined) throw error;
    return refused;
  }
}

/** @throws McpError EMCPCHANGED when the server describes its tools differently since a person accepted them */
async function check(name: string, client: Client, accepted: Accepted): Promise<void> {
  const { tools } = await listed(name, client);
  if (pinOf(tools) === accepted.digest) return;
  const before = new Map(accepted.tools.map((tool) => [tool.name, pinOf([tool])]));
  const changed = tools.filter((tool) => before.get(tool.name) !== pinOf([tool])).map((tool) => tool.name);
  const gone = accepted.tools.filter((tool) => !tools.some((one) => one.name === tool.name)).map((tool) => tool.name);
  const named = [...changed, ...gone].slice(0, 10).join(', ') || 'their order';
  const message = `The MCP server ${name} describes its tools otherwise than a person accepted them: ${named}. It is not called.`;
  throw new McpError(
    'EMCPCHANGED',
    message,
    `Continue without the server. An operator looks at the change: holdpoint mcp accept ${name}`,
  );
}

const lastVerified = new WeakMap<Accepted, number>();
const verifiedMs = 60_000;

/** Asks a server at most once a minute, and after each report of changed tools. */
async function verified(accepted: Accepted, connected: Connected, look: () => Promise<void>): Promise<void> {
  const last = lastVerified.get(accepted);
  if (!connected.hasOtherTools && last !== undefined && performance.now() - last < verifiedMs) return;
  connected.hasOtherTools = false;
  await look();
  lastVerified.set(accepted, performance.now());
}
