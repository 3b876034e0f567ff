import { posix } from 'node:path';
import type { Json } from '@holdpoint/contract';
import type { JsonSchema } from '../json-schema.ts';
import { createRegistry } from '../registry/registry.ts';
import type { Toolset } from '../toolset.ts';
import { cliAgent } from '../toolsets/cli-agent/toolset.ts';
import { asJsonArgs, builtInTools, type CallBackend } from './built-in-tools.ts';

export interface CliAgentProblem {
  code: string;
  message: string;
  suggestion: string;
}

export interface CliAgentTool {
  name: string;
  description: string;
  /** JSON Schema. */
  parameters: JsonSchema;
  requiresApproval: boolean;
  riskLevel: string;
  /** The mistakes in parameters, before anything runs. The sandbox judges paths again, links resolved. */
  validate(parameters: Json, workingDirectory: string): CliAgentProblem | undefined;
  /** The contract's result: `{success, output, files_affected, execution_time_ms, …}`. */
  execute(parameters: Json, options?: { signal?: AbortSignal }): Promise<Json>;
}

/** The tools of the toolset `cli-agent`, run by the backend. */
export function createCliAgentTools(
  backend: CallBackend,
  { toolset = cliAgent }: { toolset?: Toolset } = {},
): CliAgentTool[] {
  const registry = createRegistry([toolset]);
  return builtInTools(toolset).map(({ name, description, inputSchema, label, issuesOf }) => ({
    ...{ name, description, parameters: inputSchema },
    requiresApproval: label !== 'read_only',
    riskLevel: label,
    validate(parameters, workingDirectory) {
      const issues = issuesOf(parameters);
      if (issues.length > 0) {
        const message = issues
          .map(({ pointer, detail }) => `${pointer.slice(1) || 'parameters'}: ${detail}`)
          .join('; ');
        return { code: 'invalid_parameters', message, suggestion: `Correct the parameters of ${name}.` };
      }
      const described = registry.describe({ toolset: toolset.name, tool: name, args: parameters });
      const paths = described.ok ? described.touches.paths : [];
      const outside = paths.find(({ path }) => isOutside(path, workingDirectory));
      if (outside === undefined) return undefined;
      const message = `Path '${outside.written ?? outside.path}' is outside working directory`;
      return { code: 'path_outside_working_dir', message, suggestion: 'Use a path inside the working directory.' };
    },
    execute: (parameters, { signal } = {}) =>
      backend.call({ toolset: toolset.name, tool: name, args: asJsonArgs(parameters), signal }),
  }));
}

function isOutside(path: string, workingDirectory: string): boolean {
  const relative = posix.relative(workingDirectory, posix.resolve(workingDirectory, path));
  return relative === '..' || relative.startsWith('../');
}
