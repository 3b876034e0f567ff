import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import type { Options, PageQuery } from './request-parts.ts';

interface AuditQuery {
  /** ISO 8601, UTC: records of events from this time on. */
  since?: string | undefined;
  run_id?: string | undefined;
  kind?: readonly wire.AuditRecord['kind'][] | undefined;
}

export function auditRequests(transport: Transport) {
  const { ask } = transport;
  return {
    /** Calls, decisions and changes as they were sealed, oldest first unless `order` says otherwise. */
    async listAudit(
      { kind, ...query }: PageQuery & AuditQuery & { order?: 'asc' | 'desc' | undefined } = {},
      { signal }: Options = {},
    ): Promise<wire.Page<wire.AuditRecord>> {
      return (
        await ask({ path: '/v1/audit', query: { ...query, kind: kind?.join(',') }, signal }, wire.auditPageSchema)
      ).body;
    },

    /** The same records as lines of JSON, as the files have them. Read them to their end, or end the loop. */
    async exportAudit(
      { kind, ...rest }: AuditQuery & { cursor?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<AsyncGenerator<Uint8Array>> {
      const query = { ...rest, kind: kind?.join(',') };
      return transport.askBytes({ path: '/v1/audit', query, headers: { accept: wire.jsonLines }, signal });
    },

    /** The last sealed record: keep a copy elsewhere for `verifyAudit`. */
    async auditHead({ signal }: Options = {}): Promise<wire.AuditHead> {
      return (await ask({ path: '/v1/audit/head', signal }, wire.auditHeadSchema)).body;
    },

    /** @param query.head `SEQ:HASH` from a copy elsewhere. @returns findings: differences from the sealed records */
    async verifyAudit(query: { head?: string | undefined } = {}, { signal }: Options = {}): Promise<wire.AuditReport> {
      return (await ask({ path: '/v1/audit/verify', query: { ...query }, signal }, wire.auditReportSchema)).body;
    },
  };
}
