/** The ports of the engine to tools, workspaces and planners. The worker passes the real implementations. */
export type * from './agent-kinds.ts';
export type * from './executor.ts';
export type * from './planner.ts';
export type * from './pull-requests.ts';
export type * from './telemetry.ts';
export type * from './workspace.ts';
