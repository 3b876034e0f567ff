import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@holdpoint/client';
import type { Approval, RunDetail, Step } from '@holdpoint/contract/wire';
import type { NamedTask } from './all.ts';

/** The end of a run about a task. */
export interface Solved {
  run: RunDetail;
  steps: Step[];
  /** How often the run asked a person. */
  holds: number;
  /** The branch with the published changes; undefined: nothing was published. */
  branch: string | undefined;
  /** Why nothing was published. */
  problem: string | undefined;
}

const mostMinutes = 30;

/** Submits a task, lets a person approve whatever is held, and publishes the changes. The project's own tests have their veto. */
export async function solve(client: Client, task: NamedTask, repository: string, model?: string): Promise<Solved> {
  const { run: begun } = await client.createRun({
    ...{ title: task.name, prompt: task.prompt, model },
    workspace: { source: { type: 'git', path: repository } },
    validators: [{ name: 'tests', command: task.tests }],
    limits: { max_turns: 80 },
    labels: { suite: 'tasks' },
  });
  const signal = AbortSignal.timeout(mostMinutes * 60_000);
  const { run, holds } = await untilEnd(client, begun.id, signal);
  const steps = (await client.listSteps(run.id, { limit: 1000 })).data;
  if (run.status !== 'succeeded') {
    const problem = `${run.status}: ${run.reason?.message ?? 'no reason'}`;
    if (run.status === 'paused') await client.cancelRun(run.id);
    return { run, steps, holds, branch: undefined, problem };
  }
  const problem = await publish(client, run.id, signal);
  return { run, steps, holds, branch: problem === undefined ? `holdpoint/${run.id}` : undefined, problem };
}

const isUnderWay = ({ status }: Pick<RunDetail, 'status'>): boolean =>
  ['queued', 'running', 'waiting'].includes(status);

async function untilEnd(client: Client, id: string, signal: AbortSignal): Promise<{ run: RunDetail; holds: number }> {
  const held = new Set<string>();
  for (;;) {
    const run = await client.waitForRun(id, {
      until: (now) => !isUnderWay(now) || now.pending_approvals > 0,
      signal,
    });
    if (!isUnderWay(run)) return { run, holds: held.size };
    for (const approval of (await client.listApprovals({ run_id: id, status: ['pending'] })).data) {
      held.add(approval.id);
      await decide(client, approval);
    }
    await pause(50);
  }
}

/** A person who trusts the agent, and has no more to say than the task. */
async function decide(client: Client, { id, action_digest, allowed_decisions }: Approval): Promise<void> {
  const answer = { decision: 'respond' as const, action_digest, message: 'Decide as you think best.' };
  const yes = { decision: 'approve' as const, action_digest };
  await client.decideApproval(id, allowed_decisions.includes('approve') ? yes : answer);
}

/** Publishes the changes of a run. Returns why there are none. */
async function publish(client: Client, id: string, signal: AbortSignal): Promise<string | undefined> {
  const { files } = await client.diff(id);
  if (files.length === 0) return 'nothing was changed';
  const refused = await client.publish(id).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (refused !== undefined) return refused;
  const { publication } = await client.waitForRun(id, {
    until: (run) => run.publication.status !== 'requested',
    signal,
  });
  return publication.status === 'published' ? undefined : `the publication is ${publication.status}`;
}
