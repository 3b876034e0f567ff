export * from './history.ts';
export type * from './next-received.ts';
export * from './plan-ahead.ts';
export * from './plan-next.ts';
