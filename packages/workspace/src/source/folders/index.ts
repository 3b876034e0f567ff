export * from './check-folders.ts';
export * from './mount-points.ts';
