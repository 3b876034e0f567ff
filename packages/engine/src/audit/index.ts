export { openUnsealedSince } from './audit-lag.ts';
export { type Audit, openAudit } from './open-audit.ts';
export { type AuditState, readAuditState } from './pending-batch.ts';
export type { AuditFilter } from './read-audit.ts';
export { verifyExport } from './verify-export.ts';
