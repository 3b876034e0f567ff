import type { Client } from '@holdpoint/client/client';
import type { Approval, CreateRun, RunDetail } from '@holdpoint/contract/wire';

type Step = { name?: string; tool: string; args: Record<string, never> | Record<string, string | number | boolean> };

/** A plan of groups of calls. */
export const plan = (...groups: Step[][]): NonNullable<CreateRun['plan']> => ({
  groups: groups.map((steps) => ({ steps })),
});

export const bash = (command: string, name?: string): Step => ({
  ...(name === undefined ? {} : { name }),
  tool: 'bash',
  args: { command },
});

/** The next approval of a run that waits for a decision. */
export async function nextApproval(client: Client, runId: string): Promise<Approval> {
  const run = await client.waitForRun(runId, {
    until: (now) => now.pending_approvals > 0,
    signal: AbortSignal.timeout(25_000),
  });
  const [approval] = (await client.listApprovals({ run_id: runId })).data;
  if (!approval) throw new Error(`the run ${runId} is ${run.status} and has no open approval`);
  return approval;
}

export async function finished(client: Client, runId: string): Promise<RunDetail> {
  return client.waitForRun(runId, { signal: AbortSignal.timeout(25_000) });
}
