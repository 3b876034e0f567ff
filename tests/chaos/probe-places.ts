import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@holdpoint/client';
import { defaultTenant, isTerminal } from '@holdpoint/contract';
import { isAbandoned, placeIndex, readRun } from '@holdpoint/engine/testing';
import type { Redis } from 'ioredis';
import { plan } from '../harness/runs.ts';
import type { System } from '../harness/system.ts';
import { type Verdict, verdict } from '../harness/verdict.ts';

/**
 * With a limit of the open runs plus 1, the first run is accepted and the next refused: an ended run keeps no place. A submission whose
 * process died, or whose run Redis lost, keeps its place for a minute, so the probe begins after that minute.
 */
export async function probePlaces(system: System, redis: Redis): Promise<Verdict> {
  const { client } = system;
  await waitForLost(redis);
  const wrong: string[] = [];
  const all = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await client.listRuns({ limit: 200, cursor });
    all.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  }
  const open = all.filter((run) => run.parent === null && !isTerminal(run.status)).length;
  system.settings.HOLDPOINT_TENANT_RUNS = String(open + 1);
  await system.api.kill();
  await system.api.start();
  const submit = (title: string) =>
    client.createRun({ title, plan: plan([{ tool: 'ask_user', args: { question: 'Is there a place?' } }]) });
  const made = await submit('probe of the places').catch(
    (error: Error) => void wrong.push(`the last place: ${error.message}`),
  );
  const refused = await submit('one run too many').catch((error: unknown) => error);
  if (!(refused instanceof ApiError && refused.code === 'too_many_runs'))
    wrong.push('a run beyond the limit was accepted');
  for (const one of [made, refused instanceof Error ? undefined : (refused as typeof made)]) {
    if (!one) continue;
    await client.cancelRun(one.run.id);
    await client.waitForRun(one.run.id, { signal: AbortSignal.timeout(20_000) });
  }
  return verdict('the places of ended runs are free', all.length, 'runs', wrong);
}

/** Waits until each place without a run is older than a minute. */
async function waitForLost(redis: Redis): Promise<void> {
  for (const id of await redis.zrange(placeIndex(defaultTenant), '0', '-1')) {
    if (await readRun(redis, id)) continue;
    while (!isAbandoned(id, Date.now())) await pause(1000);
  }
}
