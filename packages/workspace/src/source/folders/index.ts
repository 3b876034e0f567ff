export * from './check-folders.ts';
export * from './judge-folder.ts';
