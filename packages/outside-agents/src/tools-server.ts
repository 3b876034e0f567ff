import type { Problem } from '@holdpoint/contract';
import type { ModelImage, ModelTool } from '@holdpoint/models';
import * as mcp from '@modelcontextprotocol/server';
import { serverName } from './drivers/driver.ts';

/** A call of the agent. */
export interface AskedCall {
  tool: string;
  args: Record<string, unknown>;
  /** The id that the agent gave the call, where it says one. */
  agentId?: string | undefined;
  /** Sends the result, with the words of people. */
  answer(result: CallText, words: readonly string[]): void;
  /** Set for a call of the agent's own tools. */
  own?: OwnCall | undefined;
}

/** A call for the agent's own tool. The agent makes the call after its release. */
interface OwnCall {
  /** The id that the agent gave the call. */
  id: string;
  /** Set for a refused call: the step settles with this error. */
  error?: Problem | undefined;
  /** Lets the agent make the call with these arguments, and waits for its report. */
  perform(args: unknown): Promise<Performed>;
  /** Ends the agent with the call open: a later start of the session asks for the same call. */
  defer(): void;
}

/** The agent's report of a call. */
export type Performed = { status: 'succeeded'; value: unknown } | { status: 'failed'; error: Problem; value?: unknown };

/** The result of a call, as a model reads it. */
export interface CallText {
  text: string;
  is_error: boolean;
  /** With their bytes. */
  images?: readonly ModelImage[] | undefined;
}

/**
 * Our tools for a connection of the agent, by the Model Context Protocol. A call is answered when its step has ended; until then its request stays open.
 * @param send writes a line to the connection
 */
export function serveTools(
  { tools, version }: { tools: readonly ModelTool[]; version: string },
  { send, onCall }: { send(line: string): void; onCall(call: AskedCall): void },
): { receive(line: string): void; close(): void } {
  const server = new mcp.Server({ name: serverName, version }, { capabilities: { tools: {} } });
  const known = new Set(tools.map(({ name }) => name));
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, description, parameters }) => ({
      ...{ name, description },
      inputSchema: { ...parameters, type: 'object' as const },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {}, _meta } }) => {
    // The names are fixed for a run: an unknown one is a mistake of the agent and no step.
    if (!known.has(name)) return { content: [{ type: 'text', text: `There is no tool ${name}.` }], isError: true };
    return new Promise<mcp.CallToolResult>((answer) =>
      onCall({
        tool: name,
        args,
        agentId: agentIdOf(_meta),
        answer: (result, words) => answer(toResult(result, words)),
      }),
    );
  });
  const lines = new LinesOfServer(send);
  void server.connect(lines).catch(() => {});
  return { receive: (line) => lines.receive(line), close: () => void server.close().catch(() => {}) };
}

/** Claude Code names the call of its model. */
function agentIdOf(meta: Record<string, unknown> = {}): string | undefined {
  const id = meta['claudecode/toolUseId'];
  return typeof id === 'string' && id.length <= 100 ? id : undefined;
}

/** The words of people come behind the result. */
export const withWords = (text: string, words: readonly string[]): string =>
  text + words.map((said) => `\n\n[Message to you, apart from the result]\n${said}`).join('');

const toResult = ({ text, is_error, images = [] }: CallText, words: readonly string[]): mcp.CallToolResult => ({
  content: [
    { type: 'text', text: withWords(text, words) },
    ...images.map(({ media_type, data }) => ({ type: 'image' as const, mimeType: media_type, data })),
  ],
  isError: is_error,
});

class LinesOfServer implements mcp.Transport {
  readonly #send: (line: string) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: mcp.JSONRPCMessage) => void;

  constructor(send: (line: string) => void) {
    this.#send = send;
  }

  async start(): Promise<void> {}

  async send(message: mcp.JSONRPCMessage): Promise<void> {
    this.#send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  receive(line: string): void {
    let message: mcp.JSONRPCMessage;
    try {
      message = mcp.deserializeMessage(line);
    } catch {
      return;
    }
    this.onmessage?.(message);
  }
}
