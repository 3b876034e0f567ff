export * from './measure-folder.ts';
export * from './watch-space.ts';
export * from './watch-space.ts';
