export { type LoadedModule, loadToolsets } from './custom/load-toolsets.ts';
export { toolModulesFrom } from './custom/tool-modules-from.ts';
export { defineTool } from './define-tool.ts';
export { ToolsError, type ToolsErrorCode } from './errors.ts';
export { httpGraph } from './graph/http-graph.ts';
export { type GraphAnswer, GraphError, type GraphRequest } from './graph/port.ts';
export type { Network, NetworkRequest, NetworkResponse } from './network.ts';
export {
  type CallDescription,
  createRegistry,
  type Registry,
} from './registry/registry.ts';
export { openTextThreads, type TextThreadLimits, type TextThreads } from './text-work/open-text-threads.ts';
export type { GenerateRequest, RunFacts, Tool, ToolContext } from './tool.ts';
export type { ToolDefinition } from './tool-definition.ts';
export { defineToolset, type Toolset } from './toolset.ts';
export { type ApprovalRule, matchesRule } from './toolsets/cli-agent/approval-rules.ts';
export { humanForm, jsonForm } from './toolsets/cli-agent/output-forms.ts';
export { createToolsets, everyToolset } from './toolsets/every-toolset.ts';
export type { SearchAnswer, SearchResult } from './web/search/answer.ts';
export { duckDuckGoHtml } from './web/search/duckduckgo-html.ts';
export type { SearchPort, SearchRequest } from './web/search/port.ts';
