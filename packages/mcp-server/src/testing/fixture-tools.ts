import {
  type CallToolResult,
  McpServer,
  MissingRequiredClientCapabilityError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { defineTool, type ToolDeps, type Waiting } from '../define-tool.ts';
import { followsTasks } from '../tasks.ts';
import { tools } from '../tools/index.ts';
import { answerOfRun } from '../tools/runs.ts';
import { runViewSchema } from '../views.ts';

/*
 * The tools that scenarios of the conformance suite call: for tasks as real runs, for results of a form that no tool of this server has as plain
 * answers. Loaded into the API of one test before it starts; the product has none of them.
 */

const startRun = async ({ client }: ToolDeps, command: string, { signal }: Waiting): Promise<string> => {
  const plan = { groups: [{ steps: [{ tool: 'bash', args: { command } }] }] };
  return (await client.createRun({ plan }, { signal })).run.id;
};

const runTool = <Input extends z.ZodObject>(name: string, input: Input, command: (given: z.output<Input>) => string) =>
  defineTool({
    ...{ name, title: name, description: name, input, output: runViewSchema, kind: 'write', idempotent: false },
    async run(deps, given, waiting) {
      const id = await startRun(deps, command(given), waiting);
      await deps.client.waitForRun(id, { signal: waiting.signal });
      return answerOfRun(deps, id, waiting.signal);
    },
    runToFollow: (deps, given, waiting) => startRun(deps, command(given), waiting),
  });

const wordTool = (name: string, input: z.ZodObject, words: (given: Record<string, unknown>) => string) =>
  defineTool({
    ...{ name, title: name, description: name, input, kind: 'read', idempotent: true },
    output: z.object({ text: z.string() }),
    run: async (_deps, given) => ({ text: words(given), value: { text: words(given) } }),
  });

const fixtures = [
  wordTool('greet', z.object({ name: z.string() }), ({ name }) => `Hello, ${name}!`),
  // It asks nothing: a task of Holdpoint never waits for the client's input.
  wordTool('confirm_delete', z.object({ filename: z.string() }), () => 'Nothing is deleted.'),
  runTool(
    'slow_compute',
    z.object({ seconds: z.number(), label: z.string() }),
    ({ seconds, label }) => `sleep ${seconds}; echo ${label}`,
  ),
  runTool('failing_job', z.object({}), () => 'exit 1'),
];

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const words = (text: string) => ({ type: 'text' as const, text });
const image = { type: 'image' as const, data: png, mimeType: 'image/png' };
const resource = (uri: string, text: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text },
});

const task = (status: string) => ({
  ...{
    taskId: 'fixture-protocol-error',
    status,
    createdAt: '2026-11-30T10:00:00Z',
    lastUpdatedAt: '2026-11-30T10:00:00Z',
  },
  ...{ ttlMs: null, pollIntervalMs: 100 },
});

/** Answers of tools, as the library gets them. */
const plain: Record<string, (context: ServerContext) => CallToolResult | Promise<CallToolResult>> = {
  test_simple_text: () => ({ content: [words('This is a simple text response for testing.')] }),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [resource('test://embedded-resource', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [words('Multiple content types test:'), image, resource('test://mixed-content-resource', 'mixed')],
  }),
  test_error_handling: () => ({
    isError: true,
    content: [words('This tool intentionally returns an error for testing')],
  }),
  test_streaming_elicitation: () => ({ content: [words('It asks nothing.')] }),
  test_logging_tool: () => ({ content: [words('It logs nothing.')] }),
  test_missing_capability: () => ({ content: [words('It needs a capability.')] }),
  async test_tool_with_progress({ mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken === undefined) break;
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    }
    return { content: [words('done')] };
  },
  // A task whose call could not be made. A run that failed is the result of a call that was made.
  protocol_error_job: () => ({ content: [], ...task('working'), resultType: 'task' }) as CallToolResult,
};

const { registerTool } = McpServer.prototype;
McpServer.prototype.registerTool = function (this: McpServer, name: string, config: object, handler: unknown) {
  const answer = plain[name];
  if (answer === undefined) return Reflect.apply(registerTool, this, [name, config, handler]);
  const told = { ...config, outputSchema: undefined };
  return Reflect.apply(registerTool, this, [name, told, (_: unknown, context: ServerContext) => answer(context)]);
} as typeof registerTool;

/** Capabilities that a tool of a scenario needs. The library answers an error of a tool as a result, so the request is refused before its tool. */
function missingOf(tool: unknown, context: ServerContext): MissingRequiredClientCapabilityError | undefined {
  const extensions = { 'io.modelcontextprotocol/tasks': {} };
  if (tool === 'failing_job' && !followsTasks(context))
    return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions } });
  if (tool !== 'test_missing_capability') return undefined;
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
}

type Handler = (request: { taskId?: string; params?: { name?: string } }, context: ServerContext) => unknown;

function instead(method: string, handler: Handler): Handler {
  const failed = { ...task('failed'), error: { code: -32603, message: 'The call could not be made.' } };
  if (method === 'tasks/get')
    return (request, context) => (request.taskId === failed.taskId ? failed : handler(request, context));
  if (method !== 'tools/call') return handler;
  return (request, context) => {
    const missing = missingOf(request.params?.name, context);
    if (missing !== undefined) throw missing;
    return handler(request, context);
  };
}

const { setRequestHandler } = Server.prototype;
Server.prototype.setRequestHandler = function (this: Server, method: string, ...rest: unknown[]) {
  const handler = rest.pop() as Handler;
  return Reflect.apply(setRequestHandler, this, [method, ...rest, instead(method, handler)]);
} as typeof setRequestHandler;

const named = Object.keys(plain).map((name) => wordTool(name, z.object({}), () => ''));
Array.prototype.push.apply(tools, [...fixtures, ...named]);
