/** A registry takes a toolset that was made with other adapters: a graph, a search engine. */
export type * from '../graph/port.ts';
export * from '../toolsets/sage/toolset.ts';
export * from '../toolsets/workbench/toolset.ts';
export type { BackendCall, CallBackend } from './built-in-tools.ts';
export * from './cli-agent.ts';
export * from './ryan.ts';
export * from './ryan-schema.ts';
export * from './ryan-tool-error.ts';
export * from './sage.ts';
export type * from './sage-context.ts';
export * from './workbench.ts';
