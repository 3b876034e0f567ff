/**
 * The cost of a decision until the tool runs, against a no-op step: from the decision's call to the begin of the execution, against the
 * time between the executions of two sequential steps, alternating, on one Redis (`appendfsync always`) with real queues.
 */
import { tmpdir } from 'node:os';
import { connect } from '@holdpoint/engine/redis';
import {
  decideApproval,
  inMemoryWorker,
  listApprovals,
  specOf,
  startTestEngine,
  stateKey,
  submitRun,
} from '@holdpoint/engine/testing';
import { startQueueWorkers } from '@holdpoint/runtime';
import pino from 'pino';

const rounds = 150;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const engine = await startTestEngine({ parent: tmpdir() });
let onExecute = (): void => {};
const { deps } = inMemoryWorker(engine, { execute: async () => onExecute() });
const connections = connect(engine.address, pino({ level: 'silent' }));
const config = {
  ...{ steps: 40, turns: 40, runs: 80, tasks: 1, lockMs: 13_000, stalledMs: 5000, sweepMs: 60_000, drainMs: 1000 },
  ...{ maintenanceMs: 86_400_000, dataDir: engine.directory },
};
const workers = await startQueueWorkers({ deps, connections, config });

async function ended(runId: string): Promise<void> {
  while ((await deps.redis.hget(stateKey(runId), 'status')) !== 'succeeded') {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Milliseconds between the executions of sequential steps. */
async function stepTimes(count: number): Promise<number[]> {
  const times: number[] = [];
  onExecute = () => void times.push(performance.now());
  const groups = Array.from({ length: count + 1 }, () => [{ args: { effect: 'read' } }]);
  const { runId } = await submitRun(deps, { spec: specOf(groups), by: 'bench' });
  await ended(runId);
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}

/** Milliseconds from a decision to the execution of its call. */
async function decisionTime(effect: string): Promise<number> {
  const policy = { rules: [{ match: {}, action: 'hold' }] };
  const { runId } = await submitRun(deps, { spec: specOf([[{ args: { effect } }]], { policy }), by: 'bench' });
  for (;;) {
    const [view] = (await listApprovals(deps, { run_id: runId }, { limit: 1 })).items;
    if (view === undefined) continue;
    // The job of the parked step falls asleep right after the approval is there.
    while ((await deps.queues.steps.getDelayedCount()) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const running = new Promise<number>((resolve) => {
      onExecute = () => resolve(performance.now());
    });
    const from = performance.now();
    await decideApproval(deps, view.approval.id, { decision: 'approve', action_digest: view.digest, by: 'ann' });
    const time = (await running) - from;
    await ended(runId);
    return time;
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

await stepTimes(20);
for (let n = 0; n < 10; n++) await decisionTime('read');
const measured = { steps: [] as number[], read: [] as number[], workspace: [] as number[] };
for (let round = 0; round < rounds; round += 10) {
  measured.steps.push(...(await stepTimes(20)));
  for (let n = 0; n < 10; n++) {
    measured.read.push(await decisionTime('read'));
    measured.workspace.push(await decisionTime('workspace'));
  }
}
const floor = median(measured.steps);
say(`no-op step                     p50 ${floor.toFixed(2)} ms`);
for (const effect of ['read', 'workspace'] as const) {
  const time = median(measured[effect]);
  const verdict = time / floor <= 1.5 ? 'met' : 'MISSED';
  say(
    `decision → tool running, ${effect.padEnd(10)} p50 ${time.toFixed(2)} ms: ${(time / floor).toFixed(2)}x; target at most 1.5x: ${verdict}`,
  );
}
await workers.drain(1000);
await connections.close();
await engine.stop();
process.exit(0);
