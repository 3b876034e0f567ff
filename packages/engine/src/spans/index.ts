export type * from './content.ts';
export type * from './ids.ts';
export * from './ids.ts';
