export { commitSnapshot } from './commit-snapshot.ts';
export { foldAll, journaledObjects } from './fold.ts';
export { createRecovery } from './recover-snapshots.ts';
export { allSnapshots, isSnapshot, listedSnapshots, listSnapshots, snapshotRef } from './snapshot-list.ts';
