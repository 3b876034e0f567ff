export * from './report-agent.ts';
export * from './report-end.ts';
export * from './tree-limits.ts';
