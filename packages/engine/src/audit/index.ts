export { type Audit, openAudit } from './open-audit.ts';
export type { AuditFilter } from './read-audit.ts';
