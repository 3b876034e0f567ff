import { setTimeout as pause } from 'node:timers/promises';
import { isTerminal } from '@holdpoint/contract';
import { type Fault, type FaultDeps, restartWorker } from './fault.ts';

/**
 * The operator changes every limit in the middle of the work: API and a worker are killed and start with other limits. Half of the open
 * runs are being paused when the API dies; the paused runs are resumed.
 */
export const changeLimits: Fault = async (deps) => {
  const { system, random, ledger, workers } = deps;
  const place = random.integer(0, workers.length - 1);
  const paused = await pauseHalf(deps, random.integer(0, 40));
  await Promise.all([system.api.kill(), workers[place]?.signal('SIGKILL')]);
  const most = random.pick([4, 12, 40]);
  Object.assign(system.settings, {
    HOLDPOINT_TENANT_RUNS: String(most),
    HOLDPOINT_KEY_RATE: String(random.pick([5, 50])),
    HOLDPOINT_KEY_BURST: String(random.pick([5, 200])),
    HOLDPOINT_WORKER_STEPS: String(random.integer(1, 6)),
    HOLDPOINT_WORKER_TURNS: String(random.pick([2, 16])),
    HOLDPOINT_WORKER_TASKS: String(random.pick([2, 16])),
    HOLDPOINT_LIMITS: JSON.stringify(random.pick([{}, { max_steps: 3 }, { max_steps: 200 }])),
  });
  ledger.places.push({ from: Date.now(), most });
  await Promise.all([system.api.start(), restartWorker(deps, place)]);
  for (const id of paused) await system.client.resumeRun(id).catch(() => undefined);
};

/** Asks for the pauses and does not wait for all of them. @returns the possibly paused runs */
async function pauseHalf({ system, random }: FaultDeps, ms: number): Promise<string[]> {
  const page = await system.client.listRuns({ limit: 200 }).catch(() => undefined);
  const open = (page?.data ?? []).filter((run) => !isTerminal(run.status) && run.status !== 'paused');
  const chosen = open.filter(() => random.chance(0.5)).map((run) => run.id);
  for (const id of chosen) void system.client.pauseRun(id).catch(() => undefined);
  await pause(ms);
  return chosen;
}
