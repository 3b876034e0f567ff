import type { Approval } from '@holdpoint/client';
import { approvalStatusSchema } from '@holdpoint/contract';
import { oneLine, plain } from '@holdpoint/readable';
import { z } from 'zod';
import { cutText } from '../bounds.ts';
import { defineTool } from '../define-tool.ts';

const mostPart = 12 * 1024;

const lineSchema = z.object({
  approval_id: z.string(),
  run_id: z.string(),
  run_title: z.string(),
  status: z.string(),
  what: z.string(),
  risk: z.string(),
  requested_at: z.string(),
  expires_at: z.string(),
  url: z.string().describe('The page on which a person decides'),
});

const lineOf = (address: string, approval: Approval): z.infer<typeof lineSchema> => ({
  approval_id: approval.id,
  run_id: approval.run_id,
  run_title: oneLine(approval.run_title, 200),
  status: approval.status,
  what: oneLine(approval.readable.action, 300),
  risk: approval.risk,
  requested_at: approval.requested_at,
  expires_at: approval.expires_at,
  url: `${address}/approvals/${approval.id}`,
});

const textOf = ({ approval_id, run_id, status, what, risk, expires_at, url }: z.infer<typeof lineSchema>): string =>
  `${approval_id} ${status}, risk ${risk}, until ${expires_at}, run ${run_id}: ${what}\n  a person decides at ${url}`;

export const listApprovals = defineTool({
  name: 'list_approvals',
  title: 'List what waits for a person',
  description:
    'Calls and publishes that wait for a person, each with the page on which the person decides. You cannot decide: show the person the page.',
  input: z.strictObject({
    run_id: z.string().min(1).max(100).optional().describe('Only this run and its sub-agents'),
    status: z.array(approvalStatusSchema).max(8).optional().describe('Default: pending'),
    limit: z.int().min(1).max(50).default(20),
    cursor: z.string().max(200).optional().describe('next_cursor of the page before'),
  }),
  output: z.object({ approvals: z.array(lineSchema), next_cursor: z.string().nullable() }),
  kind: 'read',
  idempotent: true,
  async run({ client, address }, query, { signal }) {
    const page = await client.listApprovals(query, { signal });
    const approvals = page.data.map((approval) => lineOf(address, approval));
    const lines = approvals.map(textOf);
    if (lines.length === 0) lines.push(page.next_cursor === null ? 'Nothing waits.' : 'Nothing on this page.');
    if (page.next_cursor !== null) lines.push(`more: cursor ${page.next_cursor}`);
    return { text: lines.join('\n'), value: { approvals, next_cursor: page.next_cursor } };
  },
});

const detailSchema = lineSchema.extend({
  reason: z.string().describe('Why it is held'),
  args: z.string().describe('The arguments of the call, readable'),
  preview: z.string().nullable().describe('What the call would do'),
  decision: z
    .object({ decision: z.string(), by: z.string(), message: z.string().nullable(), decided_at: z.string() })
    .nullable(),
});

export const getApproval = defineTool({
  name: 'get_approval',
  title: 'Look at what waits for a person',
  description:
    'One approval: the whole call, what it would do, why it is held, and how a person decided if they did. You cannot decide: show the person the url.',
  input: z.strictObject({ approval_id: z.string().min(1).max(100) }),
  output: detailSchema,
  kind: 'read',
  idempotent: true,
  async run({ client, address }, { approval_id }, { signal }) {
    const approval = await client.getApproval(approval_id, { signal });
    const value = detailOf(address, approval);
    const { reason, args, preview, decision } = value;
    const lines = [textOf(value), `why: ${reason}`, 'arguments:', args];
    if (preview !== null) lines.push('it would do:', preview);
    if (decision !== null) {
      lines.push(
        `decided: ${decision.decision} by ${decision.by}${decision.message === null ? '' : `: ${decision.message}`}`,
      );
    }
    return { text: lines.join('\n'), value };
  },
});

function detailOf(address: string, approval: Approval): z.infer<typeof detailSchema> {
  const { readable, reason, decision } = approval;
  const cut = (text: string): string => cutText(plain(text), mostPart, 'the page has it');
  return {
    ...lineOf(address, approval),
    reason: cut(reason),
    args: cut(readable.args),
    preview: readable.preview === null ? null : cut(readable.preview),
    decision: decision && {
      ...{ decision: decision.decision, by: decision.by, decided_at: decision.decided_at },
      message: decision.message === null ? null : cutText(plain(decision.message), 2048, 'the page has it'),
    },
  };
}
