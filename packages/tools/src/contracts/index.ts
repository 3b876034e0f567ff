/** A registry takes a toolset that was made with other adapters: a graph, a search engine. */
export type { GraphAnswer, GraphPort, GraphRequest } from '../graph/port.ts';
export { createSageToolset } from '../toolsets/sage/toolset.ts';
export { createWorkbenchToolset } from '../toolsets/workbench/toolset.ts';
export type { BackendCall, CallBackend } from './cli-agent.ts';
export { type CliAgentProblem, type CliAgentTool, createCliAgentTools } from './cli-agent.ts';
export {
  createRyanRegistry,
  type RyanOutcome,
  type RyanRegistry,
  type RyanRequest,
  type RyanResult,
  type RyanTool,
} from './ryan.ts';
export { addProperty, addRequired, newSchema } from './ryan-schema.ts';
export { ToolError } from './ryan-tool-error.ts';
export {
  createSageRegistry,
  defineTool,
  type SageRegistry,
  type SageResult,
  type SageTool,
} from './sage.ts';
export type { SageContext, SecretProvider } from './sage-context.ts';
export {
  createWorkbenchRegistry,
  type WorkbenchRegistry,
  type WorkbenchResult,
  type WorkbenchTool,
} from './workbench.ts';
