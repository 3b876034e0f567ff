export type * from './content.ts';
export * from './ids.ts';
export type * from './trace-state.ts';
