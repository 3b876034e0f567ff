export * from './audit-lag.ts';
export * from './open-audit.ts';
export * from './pending-batch.ts';
export type * from './read-audit.ts';
export * from './verify-export.ts';
