// What a publish to a directory and a publish to a branch share.
export { applyChanges } from './apply-changes.ts';
export { type ChangeSet, changeSet, isWithinAny, leftOutOf, newlySkipped } from './change-set.ts';
export { createTextBudget, readVersions, resolveConflict } from './conflict-versions.ts';
export { toPlanFiles, withDigest } from './plan-digest.ts';
export { findUnexplained, unexplained } from './unexplained.ts';
