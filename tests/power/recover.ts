import type { Client } from '@holdpoint/client';
import { isTerminal } from '@holdpoint/contract';
import type { Run, RunEvent } from '@holdpoint/contract/wire';
import { until } from '../harness/until.ts';
import { type ExpectedRun, type Files, parseFileList, type RecoveredRun } from './cut.ts';
import { readPublished } from './read-published.ts';

/** Reads every run after the cut, decides pending approvals, waits until all runs end, and reads their results. */
export async function recover(
  client: Client,
  expectedRuns: readonly ExpectedRun[],
): Promise<Map<string, RecoveredRun>> {
  const published = new Map<string, Files | string | undefined>();
  const events = new Map<string, RunEvent[] | string>();
  const recorded = new Map<string, Files | string | undefined>();
  for (const expectedRun of expectedRuns) {
    const { runId } = expectedRun;
    published.set(runId, expectedRun.published && (await orProblem(readPublished(runId, expectedRun.published))));
    events.set(runId, await orProblem(allEvents(client, runId)));
    recorded.set(runId, expectedRun.recorded && (await orProblem(readSnapshot(client, runId))));
  }
  const ends = await decideUntilEnded(client, expectedRuns);
  const after = new Map<string, RecoveredRun>();
  for (const { runId } of expectedRuns) {
    const end = ends.get(runId);
    after.set(runId, {
      events: events.get(runId) ?? 'not read',
      seen: await orProblem(readListedFiles(client, runId)).then((seen) =>
        typeof seen === 'string' ? undefined : seen,
      ),
      status: end?.status ?? 'unknown',
      reason: end?.reason?.message,
      result: await orProblem(readSnapshot(client, runId)),
      recorded: recorded.get(runId),
      published: published.get(runId),
    });
  }
  return after;
}

/** Answers every question and approves every call. @returns the runs after all have ended or paused */
async function decideUntilEnded(client: Client, expectedRuns: readonly ExpectedRun[]): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>();
  const isOver = ({ runId }: ExpectedRun): boolean => {
    const status = runs.get(runId)?.status;
    return status !== undefined && (isTerminal(status) || status === 'paused');
  };
  await until(
    'the runs end',
    async () => {
      for (const { action_digest, id, allowed_decisions } of (await client.listApprovals({ limit: 50 })).data) {
        const decision = allowed_decisions.includes('approve') ? 'approve' : 'respond';
        await client.decideApproval(id, { decision, action_digest, message: 'continue' }).catch(() => undefined);
      }
      for (const { runId } of expectedRuns) {
        const run = await client.getRun(runId).catch(() => undefined);
        if (run !== undefined) runs.set(runId, run);
      }
      return expectedRuns.every(isOver);
    },
    { withinMs: 60_000 },
  ).catch(() => undefined);
  return runs;
}

async function allEvents(client: Client, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await client.listEvents(runId, { after: events.length, limit: 1000 });
    events.push(...page.data);
    if (page.data.length < 1000) return events;
  }
}

async function readSnapshot(client: Client, runId: string): Promise<Files> {
  const files = new Map<string, string>();
  for (const { path } of await client.listFiles(runId)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await client.readFile(runId, { path })) chunks.push(chunk);
    files.set(path, Buffer.concat(chunks).toString());
  }
  return files;
}

async function readListedFiles(client: Client, runId: string): Promise<Map<string, string>> {
  const step = (await client.listSteps(runId)).data.find(({ name }) => name === 'look');
  if (step === undefined) throw new Error('the run has no step that lists files');
  const { result } = await client.getStep(step.id);
  const { stdout } = result as { stdout: string };
  return parseFileList(stdout);
}

const orProblem = <Value>(work: Promise<Value>): Promise<Value | string> =>
  work.catch((error: unknown) => `unreadable: ${error instanceof Error ? error.message : error}`);
