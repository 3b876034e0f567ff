export {
  type Addition,
  addTools,
  type LoadedModule,
  type LoadedToolsets,
  loadToolsets,
  toolModulesFrom,
} from './custom/load-toolsets.ts';
export { defineTool } from './define-tool.ts';
export { ToolsError, type ToolsErrorCode } from './errors.ts';
export { httpGraph } from './graph/http-graph.ts';
export { type GraphAnswer, GraphError, type GraphRequest } from './graph/port.ts';
export { outsideInput } from './input-schema/from-json-schema.ts';
export type { JsonSchema } from './json-schema.ts';
export { LanguageError, type LanguagePort } from './language/port.ts';
export type { Network, NetworkRequest, NetworkResponse } from './network.ts';
export { networkFailure } from './operations/web.ts';
export { outputSchemaProblem } from './output-schema/read-output.ts';
export { createRegistry, type Registry } from './registry/registry.ts';
export type { OutcomeText } from './registry/render-call.ts';
export { renderValue } from './result-text/result-text.ts';
export { openSearch, type SearchSettings, searchProviders } from './search/open-search.ts';
export type { SearchPort, SearchRequest } from './search/port.ts';
export { openTextThreads, type TextThreadLimits, type TextThreads } from './text-work/open-text-threads.ts';
export { type TextWork, TextWorkError } from './text-work/text-work.ts';
export type {
  Conversation,
  Converse,
  ConverseKept,
  GenerateRequest,
  KeptRequest,
  RunFacts,
  Tool,
  ToolContext,
} from './tool.ts';
export type { ToolDefinition } from './tool-definition.ts';
export { defineToolset, type Toolset } from './toolset.ts';
export { type ApprovalRule, matchesRule } from './toolsets/cli-agent/approval-rules.ts';
export { humanForm, jsonForm } from './toolsets/cli-agent/output-forms.ts';
export { createToolsets, everyToolset } from './toolsets/every-toolset.ts';
export type { SearchAnswer, SearchResult } from './web/search/answer.ts';
