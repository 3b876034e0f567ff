/** The ports of the engine to tools, workspaces and planners. The worker passes the real implementations. */
export * from './agent-kinds.ts';
export * from './executor.ts';
export * from './planner.ts';
export * from './pull-requests.ts';
export * from './telemetry.ts';
export * from './workspace.ts';
