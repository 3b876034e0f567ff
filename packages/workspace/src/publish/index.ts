// The common part of a publish to a directory and a publish to a branch.
export * from './change-set.ts';
export * from './conflict-versions.ts';
export * from './plan-digest.ts';
export * from './resolve-conflict.ts';
export * from './unexplained.ts';
