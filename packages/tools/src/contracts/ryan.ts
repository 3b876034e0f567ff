import type { Json } from '@holdpoint/contract';
import { asZod } from '../input-schema/from-json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';
import { renderDefinitions } from '../registry/render-definitions.ts';
import type { ToolDefinition } from '../tool-definition.ts';
import type { Toolset } from '../toolset.ts';
import { ryan } from '../toolsets/ryan/toolset.ts';
import { asJsonArgs, builtInTools, type CallBackend, issuesIn } from './built-in-tools.ts';
import { ToolError } from './ryan-tool-error.ts';

export interface RyanRequest {
  name: string;
  parameters?: Record<string, unknown>;
}

/** A tool's result without its metadata. */
export interface RyanOutcome {
  success: boolean;
  content: string;
  data?: Json;
  error?: string;
}

export interface RyanResult extends RyanOutcome {
  metadata: {
    /** Nanoseconds. */
    execution_time: number;
    /** ISO 8601. */
    start_time: string;
    end_time: string;
    tool_name: string;
    parameters: Json;
  };
}

/** A tool in this process: without gate, sandbox and log. */
export interface RyanTool {
  name: string;
  description: string;
  /** JSON Schema of its parameters. */
  schema: JsonSchema;
  /** @throws any error: it becomes the `error` of the result */
  execute(context: { signal: AbortSignal }, parameters: Record<string, unknown>): Promise<RyanOutcome> | RyanOutcome;
}

export interface RyanRegistry {
  /** @throws ToolError for a registered name, and for null */
  register(tool: RyanTool | null | undefined): void;
  /** @throws ToolError for an unregistered name */
  unregister(name: string): void;
  get(name: string): { tool: RyanTool | undefined; found: boolean };
  list(): string[];
  /** The tools of the toolset `ryan`, run by the backend. @throws ToolsError for a registered name */
  registerBuiltinTools(): void;
  /** Never rejects: a failure is a result. Aborting `signal` ends the tool. */
  execute(request: RyanRequest, options?: { signal?: AbortSignal }): Promise<RyanResult>;
  /** Starts concurrently with other calls; a single result later. */
  executeAsync(request: RyanRequest, options?: { signal?: AbortSignal }): Promise<RyanResult>;
  /** @throws ToolsError `EUNKNOWNFORM` for an unknown provider */
  getDefinitions(provider: string): readonly Json[];
  convertToProvider(tool: RyanTool, provider: string): Json;
  batchConvert(tools: readonly RyanTool[], provider: string): readonly Json[];
}

type Run = (
  request: Required<RyanRequest>,
  options: { signal: AbortSignal; concurrent: boolean },
) => Promise<RyanResult>;

/** @param options.toolset the toolset whose tools `registerBuiltinTools` registers. @default ryan */
export function createRyanRegistry(backend: CallBackend, { toolset = ryan }: { toolset?: Toolset } = {}): RyanRegistry {
  const tools = new Map<string, { tool: RyanTool; run: Run }>();
  const add = (tool: RyanTool, run: Run): void => {
    if (tools.has(tool.name)) throw new ToolError(tool.name, 'tool already registered');
    tools.set(tool.name, { tool, run });
  };
  const start =
    (concurrent: boolean): RyanRegistry['execute'] =>
    async ({ name, parameters = {} }, { signal } = {}) => {
      const found = tools.get(name);
      if (found === undefined) {
        return timed({ name, parameters }, async () => failed(`tool not found: ${name}`));
      }
      return found.run({ name, parameters }, { signal: signal ?? new AbortController().signal, concurrent });
    };
  const batchConvert: RyanRegistry['batchConvert'] = (some, provider) =>
    renderDefinitions(toolset, provider, some.map(definition));
  return {
    register(tool) {
      if (tool == null) throw new ToolError('', 'tool is nil');
      const schema = asZod(tool.schema);
      add(tool, (request, { signal }) => timed(request, () => runHere(tool, request, { schema, signal })));
    },
    unregister(name) {
      if (!tools.delete(name)) throw new ToolError(name, 'tool not found');
    },
    get(name) {
      const tool = tools.get(name)?.tool;
      return { tool, found: tool !== undefined };
    },
    list: () => [...tools.keys()],
    registerBuiltinTools() {
      for (const { name, description, inputSchema: schema } of builtInTools(toolset)) {
        const run: Run = async (request, { signal, concurrent }) => {
          const call = { toolset: toolset.name, tool: name, args: asJsonArgs(request.parameters), concurrent, signal };
          try {
            return (await backend.call(call)) as unknown as RyanResult;
          } catch (error) {
            if (signal.aborted) return timed(request, async () => failed('canceled'));
            return timed(request, () => Promise.reject(error));
          }
        };
        const execute: RyanTool['execute'] = ({ signal }, parameters) =>
          run({ name, parameters }, { signal, concurrent: false });
        add({ name, description, schema, execute }, run);
      }
    },
    execute: start(false),
    executeAsync: start(true),
    getDefinitions: (provider) =>
      batchConvert(
        [...tools.values()].map(({ tool }) => tool),
        provider,
      ),
    batchConvert,
    convertToProvider: (tool, provider) => batchConvert([tool], provider)[0] ?? null,
  };
}

async function runHere(
  tool: RyanTool,
  { parameters }: Required<RyanRequest>,
  { schema, signal }: { schema: ReturnType<typeof asZod>; signal: AbortSignal },
): Promise<RyanOutcome> {
  const [issue] = issuesIn(schema, parameters);
  if (issue) return failed(`invalid parameter ${issue.pointer.slice(1) || 'object'}: ${issue.detail}`);
  if (signal.aborted) return failed('canceled');
  const canceled = Promise.withResolvers<RyanOutcome>();
  const cancel = (): void => canceled.resolve(failed('canceled'));
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await Promise.race([
      canceled.promise,
      tool.execute({ signal }, schema.parse(parameters) as typeof parameters),
    ]);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const failed = (error: string): RyanOutcome => ({ success: false, content: '', error });

/** The outcome with its metadata. A thrown error is a failure. */
async function timed(
  { name, parameters }: Required<RyanRequest>,
  run: () => Promise<RyanOutcome>,
): Promise<RyanResult> {
  const began = { at: new Date(), ns: process.hrtime.bigint() };
  const outcome = await run().catch((error: unknown) =>
    failed(new ToolError(name, 'execution failed', error).toString()),
  );
  return {
    ...outcome,
    metadata: {
      execution_time: Number(process.hrtime.bigint() - began.ns),
      start_time: began.at.toISOString(),
      end_time: new Date().toISOString(),
      tool_name: name,
      parameters: asJsonArgs(parameters),
    },
  };
}

const definition = ({ name, description, schema }: RyanTool): ToolDefinition => ({
  ...{ name, description, input_schema: schema, effect: 'by run', risk: 'high', label: 'high', asks: 'no' },
});
