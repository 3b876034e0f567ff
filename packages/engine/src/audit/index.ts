export { openUnsealedSince } from './audit-lag.ts';
export { type AuditState, readAuditState } from './audit-state.ts';
export { type Audit, openAudit } from './open-audit.ts';
export type { AuditFilter } from './read-audit.ts';
export { verifyExport } from './verify-export.ts';
