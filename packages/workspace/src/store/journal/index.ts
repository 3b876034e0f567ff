export * from './journal.ts';
export * from './recover-snapshots.ts';
export * from './snapshot-list.ts';
