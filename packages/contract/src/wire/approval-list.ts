import { z } from 'zod';
import { idPrefixes } from '../id-prefixes.ts';
import { approvalStatusSchema } from '../vocabulary.ts';
import { integerParameter, listParameter } from './page.ts';

const labelParameter = z
  .string()
  .regex(/^[^=]+=/, 'expected name=value')
  .describe('`name=value`: only approvals of runs with this label');

const approvalFilter = {
  run_id: z.string().optional().describe('Approvals of this run and of the sub-agents beneath it'),
  tool: z.string().optional().describe('Only approvals of calls of this tool'),
  rule: z.string().optional().describe('Only approvals that a rule with this name asks for'),
  label: labelParameter.optional(),
  by: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Only approvals that this caller decided, or approved where several have to. A rule decides as its maker',
    ),
};

const timeParameter = z.iso.datetime({ offset: true }).optional();

/** GET /v1/approvals. A page may be short or empty and still have a `next_cursor`: it looks at 20,000 entries of lists at most. */
export const listApprovalsQuerySchema = z
  .strictObject({
    status: listParameter(approvalStatusSchema)
      .optional()
      .describe(
        'One or more, separated by commas. Default: pending; with `by`, `decided_after` or `decided_before`: every other',
      ),
    ...approvalFilter,
    older_than_s: integerParameter(0, 315_360_000)
      .optional()
      .describe('Only approvals requested this many seconds ago'),
    requested_after: timeParameter,
    requested_before: timeParameter,
    decided_after: timeParameter.describe('Only approvals with a decision after this time'),
    decided_before: timeParameter.describe('Only approvals with a decision before this time'),
    order: z
      .enum(['newest', 'oldest', 'expires_first'])
      .default('newest')
      .describe(
        'By the time of the request. `expires_first`, for pending ones: what expires in an earlier second, then the higher risk, then the older',
      ),
    limit: integerParameter(1, 200).default(50),
    cursor: z
      .string()
      .regex(new RegExp(`^(?:\\d{1,15}:)?${idPrefixes.approval}_[0-9a-f-]{36}$`), 'expected the next_cursor of a page')
      .optional()
      .describe('`next_cursor` of the previous page'),
  })
  .transform(({ status, ...rest }) => ({ ...rest, status: status ?? statusesOf(rest) }))
  .superRefine(({ status, order, cursor }, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (order === 'expires_first' && status.some((one) => one !== 'pending')) {
      refuse('order', 'expires_first orders pending approvals: ask for status=pending alone, without by and decided_…');
    }
    if (cursor !== undefined && cursor.includes(':') !== (order === 'expires_first')) {
      refuse('cursor', 'the cursor is of a page in another order: ask for the first page of this order');
    }
  });

const decidedStatuses = approvalStatusSchema.options.filter((status) => status !== 'pending');
const statusesOf = (query: Partial<Record<'by' | 'decided_after' | 'decided_before', string | undefined>>) =>
  [query.by, query.decided_after, query.decided_before].some((value) => value !== undefined)
    ? decidedStatuses
    : [approvalStatusSchema.enum.pending];

/** GET /v1/approvals/counts. */
export const countApprovalsQuerySchema = z.strictObject(approvalFilter);

export const approvalCountsSchema = z
  .strictObject({
    total: z.int(),
    by_status: z.record(approvalStatusSchema, z.int()).describe('The number of approvals of each status'),
    at_least: z
      .array(approvalStatusSchema)
      .describe('With a filter: the statuses that have more than 10,000 approvals, where counting stopped'),
  })
  .meta({ id: 'ApprovalCounts' });
export type ApprovalCounts = z.infer<typeof approvalCountsSchema>;

export type ListApprovalsQuery = z.infer<typeof listApprovalsQuerySchema>;
