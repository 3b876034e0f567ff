export * from './measure-folder.ts';
export * from './space-limits.ts';
export * from './watch-space.ts';
