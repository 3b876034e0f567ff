import { ApiError, type Approval, type Client, type RunDetail } from '@holdpoint/client';
import { runStatusSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { type Answer, defineTool, type ToolDeps } from '../define-tool.ts';
import { type RunView, runLineOf, runViewSchema, textOfRun, viewOfRun } from '../views.ts';

export const runId = z.string().min(1).max(100).describe('run_id of the answer of submit_run or list_runs');
const mostAsked = 5;

type Looking = Pick<ToolDeps, 'client' | 'address'>;

/** The run, and the answer about it. */
export async function lookAtRun(
  { client, address }: Looking,
  id: string,
  signal: AbortSignal,
): Promise<{ run: RunDetail; answer: Answer<RunView> }> {
  const run = await client.getRun(id, { signal });
  const asked = run.pending_approvals === 0 ? [] : await askedOf(client, id, signal);
  const value = viewOfRun(address, run, asked);
  return { run, answer: { text: textOfRun(value), value } };
}

export const answerOfRun = async (deps: Looking, id: string, signal: AbortSignal): Promise<Answer<RunView>> =>
  (await lookAtRun(deps, id, signal)).answer;

/** A key without `approvals:read` reads none. */
async function askedOf(client: Client, runId: string, signal: AbortSignal): Promise<Approval[]> {
  try {
    const query = { run_id: runId, order: 'oldest', limit: mostAsked } as const;
    return (await client.listApprovals(query, { signal })).data;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'missing_scope') return [];
    throw error;
  }
}

export const getRun = defineTool({
  name: 'get_run',
  title: 'Look at a run',
  description:
    'Status of a run, what waits for a person in it, its answer once it succeeded, why it is paused or failed, and what to do next. To wait for a change use wait_for_run.',
  input: z.strictObject({ run_id: runId }),
  output: runViewSchema,
  kind: 'read',
  idempotent: true,
  run: (deps, { run_id }, { signal }) => answerOfRun(deps, run_id, signal),
});

const runLineSchema = z.object({
  run_id: z.string(),
  title: z.string(),
  status: z.string(),
  pending_approvals: z.int(),
  created_at: z.string(),
});

export const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description:
    'Runs of the tenant, newest first. Use it to find a run whose id is lost, or to see what waits for a person.',
  input: z.strictObject({
    status: z.array(runStatusSchema).max(8).optional().describe('Only these statuses. Default: all'),
    title: z.string().min(1).max(200).optional().describe('Part of the title'),
    limit: z.int().min(1).max(100).default(20),
    cursor: z.string().max(100).optional().describe('next_cursor of the page before'),
  }),
  output: z.object({ runs: z.array(runLineSchema), next_cursor: z.string().nullable() }),
  kind: 'read',
  idempotent: true,
  async run({ client }, query, { signal }) {
    const page = await client.listRuns(query, { signal });
    const runs = page.data.map(runLineOf);
    const lines = runs.map(
      ({ run_id, title, status, pending_approvals, created_at }) =>
        `${run_id} ${status}${pending_approvals > 0 ? ` (${pending_approvals} approvals wait)` : ''} ${created_at} "${title}"`,
    );
    if (lines.length === 0) lines.push(page.next_cursor === null ? 'No runs.' : 'No runs on this page.');
    if (page.next_cursor !== null) lines.push(`more: cursor ${page.next_cursor}`);
    return { text: lines.join('\n'), value: { runs, next_cursor: page.next_cursor } };
  },
});
