import type { Json } from '@holdpoint/contract';
import type { JsonSchema } from '../json-schema.ts';
import type { Toolset } from '../toolset.ts';
import { workbench } from '../toolsets/workbench/toolset.ts';
import { asJsonArgs, builtInTools, type CallBackend } from './built-in-tools.ts';

export type WorkbenchResult =
  | { ok: true; value: Json }
  | { ok: false; error: { code: string; message: string; details?: Json } };

export interface WorkbenchTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  /**
   * Whether calls ask a person; a function: whether a call with these arguments may. A tool of the backend decides when it runs, by the files
   * of the workspace.
   */
  requiresApproval: boolean | ((args: Json) => boolean);
  execute(args: Json, options?: { signal?: AbortSignal }): Promise<WorkbenchResult>;
}

export interface WorkbenchRegistry {
  /** Replaces a tool of the same name. A registered tool runs in this process: without gate and sandbox. */
  register(tool: WorkbenchTool): void;
  get(name: string): WorkbenchTool | undefined;
  /** In order of registration; a replacement has the place of the replaced tool. */
  list(): WorkbenchTool[];
  toOpenAIFunctions(): { name: string; description: string; parameters: JsonSchema }[];
}

/**
 * Begins with the tools of the toolset `workbench`, run by the backend.
 * @param options.settings the settings of the backend's run, with its `url_allowlist`. @default none
 */
export function createWorkbenchRegistry(
  backend: CallBackend,
  { toolset = workbench, settings = {} }: { toolset?: Toolset; settings?: object } = {},
): WorkbenchRegistry {
  const tools = new Map<string, WorkbenchTool>();
  const register = (tool: WorkbenchTool): void => void tools.set(tool.name, tool);
  for (const { name, description, inputSchema, outputSchema = {}, asks } of builtInTools(toolset)) {
    register({
      ...{ name, description, inputSchema, outputSchema },
      requiresApproval: typeof asks === 'boolean' ? asks : (args) => asks(args, settings),
      execute: async (args, { signal } = {}) => {
        const call = { toolset: toolset.name, tool: name, args: asJsonArgs(args), signal };
        return (await backend.call(call)) as unknown as WorkbenchResult;
      },
    });
  }
  return {
    register,
    get: (name) => tools.get(name),
    list: () => [...tools.values()],
    toOpenAIFunctions: () =>
      [...tools.values()].map(({ name, description, inputSchema: parameters }) => ({ name, description, parameters })),
  };
}
