import type { Client } from '@holdpoint/client';
import type { Approval, CreateRun, Run, RunDetail } from '@holdpoint/contract/wire';

type Step = { name?: string; tool: string; args: Record<string, never> | Record<string, string | number | boolean> };

/** Bounds a wait, not a speed: a machine with other work takes several times as long. */
const waitMs = 60_000;

/** A plan with a group per argument. */
export const plan = (...groups: Step[][]): NonNullable<CreateRun['plan']> => ({
  groups: groups.map((steps) => ({ steps })),
});

/** The built-in rules hold deletions and other deliberate commands of a test. */
export const allowBash = { match: { tool: 'bash' }, action: 'allow' as const };

export const bash = (command: string, name?: string): Step => ({ name, tool: 'bash', args: { command } });

/** Waits until the run has an open approval. */
export async function nextApproval(client: Client, runId: string): Promise<Approval> {
  const run = await waitFor(client, runId, (now) => now.pending_approvals > 0);
  const [approval] = (await client.listApprovals({ run_id: runId })).data;
  if (!approval) throw new Error(`the run ${runId} is ${run.status} and has no open approval`);
  return approval;
}

export const approve = (client: Client, { id, action_digest }: Approval, message?: string) =>
  client.decideApproval(id, { decision: 'approve', action_digest, message });

/** Whether the API is ready, or the code of its refusal. */
export const readiness = (client: Client): Promise<string | undefined> =>
  client.ready().then(
    () => 'ready',
    (error: { code?: string }) => error.code,
  );

/** Creates a run and waits for its end. */
export async function finish(client: Client, request: Parameters<Client['createRun']>[0]): Promise<RunDetail> {
  const { run } = await client.createRun(request);
  return finished(client, run.id);
}

/** Creates a run and waits for its end. @throws unless the run succeeds */
export async function succeed(...request: Parameters<typeof finish>): Promise<RunDetail> {
  const run = await finish(...request);
  if (run.status !== 'succeeded') throw new Error(`the run ${run.id} is ${run.status}: ${run.reason?.message}`);
  return run;
}

export const published = (client: Client, runId: string): Promise<RunDetail> =>
  waitFor(client, runId, ({ publication }) => publication.status === 'published');

export const finished = (client: Client, runId: string): Promise<RunDetail> => waitFor(client, runId);

/** @throws after `waitMs`, with the state of the run and its last events */
async function waitFor(client: Client, runId: string, until?: (run: Run) => boolean): Promise<RunDetail> {
  const signal = AbortSignal.timeout(waitMs);
  try {
    return await client.waitForRun(runId, { until, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(`not within ${waitMs} ms: ${await describe(client, runId)}`);
  }
}

async function describe(client: Client, runId: string): Promise<string> {
  const { status, reason, pending_approvals } = await client.getRun(runId);
  const events: string[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await client.listEvents(runId, { after });
    events.push(...page.data.map((event) => JSON.stringify(event).slice(0, 300)));
    after = page.data.at(-1)?.seq;
  }
  const state = JSON.stringify({ status, reason, pending_approvals });
  return [`the run ${runId} is ${state}, its last events are`, ...events.slice(-12)].join('\n');
}
