import type { Client } from '@holdpoint/client/client';
import { isTerminal } from '@holdpoint/contract';
import type { Run, RunEvent } from '@holdpoint/contract/wire';
import { until } from '../harness/until.ts';
import { readPublished } from './read-published.ts';
import { type Aftermath, type Files, parseLook, type Witness } from './witness.ts';

/** Looks at every run as it is after the cut, decides what is parked, waits for the ends and reads the results. */
export async function recover(client: Client, witnesses: readonly Witness[]): Promise<Map<string, Aftermath>> {
  const published = new Map<string, Files | string | undefined>();
  const events = new Map<string, RunEvent[] | string>();
  const recorded = new Map<string, Files | string | undefined>();
  for (const witness of witnesses) {
    const { runId } = witness;
    published.set(runId, witness.published && (await orProblem(readPublished(runId, witness.published))));
    events.set(runId, await orProblem(allEvents(client, runId)));
    recorded.set(runId, witness.recorded && (await orProblem(readSnapshot(client, runId))));
  }
  const ends = await decideUntilEnded(client, witnesses);
  const after = new Map<string, Aftermath>();
  for (const { runId } of witnesses) {
    const end = ends.get(runId);
    after.set(runId, {
      events: events.get(runId) ?? 'not read',
      seen: await orProblem(readLook(client, runId)).then((seen) => (typeof seen === 'string' ? undefined : seen)),
      status: end?.status ?? 'unknown',
      reason: end?.reason?.message,
      result: await orProblem(readSnapshot(client, runId)),
      ...withDefined({ recorded: recorded.get(runId), published: published.get(runId) }),
    });
  }
  return after;
}

/** Answers every question and approves every call. @returns the runs as they are when none moves any more */
async function decideUntilEnded(client: Client, witnesses: readonly Witness[]): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>();
  const isOver = ({ runId }: Witness): boolean => {
    const status = runs.get(runId)?.status;
    return status !== undefined && (isTerminal(status) || status === 'paused');
  };
  await until(
    'the runs end',
    async () => {
      for (const { action_digest, id, allowed_decisions } of (await client.listApprovals({ limit: 50 })).data) {
        const decision = allowed_decisions.includes('approve') ? 'approve' : 'respond';
        await client.decideApproval(id, { decision, action_digest, message: 'go on' }).catch(() => undefined);
      }
      for (const { runId } of witnesses) {
        const run = await client.getRun(runId).catch(() => undefined);
        if (run !== undefined) runs.set(runId, run);
      }
      return witnesses.every(isOver);
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

async function readLook(client: Client, runId: string): Promise<Map<string, string>> {
  const step = (await client.listSteps(runId)).data.find(({ name }) => name === 'look');
  if (step === undefined) throw new Error('the run has no step that looks');
  const { result } = await client.getStep(step.id);
  const { stdout } = result as { stdout: string };
  return parseLook(stdout);
}

const orProblem = <Value>(work: Promise<Value>): Promise<Value | string> =>
  work.catch((error: unknown) => `it cannot be read: ${error instanceof Error ? error.message : error}`);

function withDefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof withDefined<Fields>
  >;
}
