export * from './journal.ts';
export * from './journal.ts';
export * from './record.ts';
