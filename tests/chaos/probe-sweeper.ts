import type { Client } from '@holdpoint/client';
import type { Queues } from '@holdpoint/engine';
import { nextApproval, plan } from '../harness/runs.ts';
import { until } from '../harness/until.ts';
import { type Verdict, verdict } from '../harness/verdict.ts';

/** Removes the wake-up of a parked step. A running sweeper restores the wake-up; a sweeper with a lost schedule never does. */
export async function probeSweeper({ client, queues }: { client: Client; queues: Queues }): Promise<Verdict> {
  const wrong: string[] = [];
  const ask = { tool: 'ask_user', args: { question: 'Does the sweeper sweep?' } };
  try {
    const { run } = await client.createRun({ title: 'probe of the sweeper', plan: plan([ask]) });
    await nextApproval(client, run.id);
    const [step] = (await client.listSteps(run.id)).data;
    await queues.steps.remove(step?.id ?? '');
    const isBack = async (): Promise<boolean> => (await queues.steps.getJob(step?.id ?? '')) !== undefined;
    await until('the wake-up of a parked step is restored', isBack, { withinMs: 30_000 }).catch((error: Error) => {
      wrong.push(error.message);
    });
    await client.cancelRun(run.id);
    await client.waitForRun(run.id, { signal: AbortSignal.timeout(20_000) });
  } catch (error) {
    wrong.push(`a run after all faults: ${error instanceof Error ? error.message : error}`);
  }
  return verdict('the sweeper still runs', 1, 'wake-ups removed', wrong);
}
