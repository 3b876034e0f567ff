export { commitSnapshot, foldAll, journaledObjects } from './journal.ts';
export { createRecovery } from './recover-snapshots.ts';
export { allSnapshots, isSnapshot, listedSnapshots, listSnapshots, snapshotRef } from './snapshot-list.ts';
