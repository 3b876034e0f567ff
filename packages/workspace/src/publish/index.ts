// The common part of a publish to a directory and a publish to a branch.
export { type ChangeSet, changeSet, leftOutOf, newlySkipped, withMoves } from './change-set.ts';
export { createTextBudget, keepConflicts, oidsOf, readVersions } from './conflict-versions.ts';
export { toPlanFiles, withDigest } from './plan-digest.ts';
export { resolveConflict } from './resolve-conflict.ts';
export { findUnexplained, unexplained } from './unexplained.ts';
