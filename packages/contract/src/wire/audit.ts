import { z } from 'zod';
import { auditKinds, auditRecordSchema } from '../audit.ts';
import { runIdSchema } from '../ids.ts';
import { integerParameter, listParameter, pageOf } from './page.ts';

export {
  type AuditFinding,
  type AuditHead,
  type AuditRecord,
  type AuditReport,
  auditHeadSchema,
  auditReportSchema,
} from '../audit.ts';

/** `next_cursor` is the sequence number of the last record of the page. */
export const auditPageSchema = pageOf(auditRecordSchema);

const auditKindSchema = z.enum(auditKinds);
export type AuditKind = z.infer<typeof auditKindSchema>;

export const listAuditQuerySchema = z.strictObject({
  since: z.iso.datetime().optional().describe('Records of what happened at this time or later'),
  run_id: runIdSchema.optional(),
  kind: listParameter(auditKindSchema).optional().describe('Only records of these kinds, separated by commas'),
  cursor: integerParameter(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('`next_cursor` of the previous page: records after this sequence number, or before it with `order=desc`'),
  order: z.enum(['asc', 'desc']).default('asc').describe('`desc`: the last record first; not for a stream'),
  format: z
    .enum(['json', 'jsonl'])
    .default('json')
    .describe('`jsonl`: the stream of records, for a client that cannot set a header'),
  limit: integerParameter(1, 1000).default(200).describe('Records per page; a stream has no limit'),
});

export const verifyAuditQuerySchema = z.strictObject({
  head: z
    .string()
    .regex(/^\d{1,15}:[0-9a-f]{64}$/, 'expected SEQ:HASH, as `holdpoint audit head` prints it')
    .optional()
    .describe('A head that was kept elsewhere: `SEQ:HASH`'),
});

/** The media type of the stream of records: a record per line. */
export const jsonLines = 'application/x-ndjson';
