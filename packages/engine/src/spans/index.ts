export * from './content.ts';
export * from './ids.ts';
