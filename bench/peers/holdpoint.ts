/**
 * Holdpoint: an API, a worker with 40 slots and Redis, each a process of its own. Parked: a step in wait for a person's approval, through
 * the API.
 */
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSystem, succeed } from '../../tests/harness/index.ts';
import { type Peer, servePeer } from './peer.ts';

const call = { tool: 'begun', args: {} };
const hold = { rules: [{ match: {}, action: 'hold' as const }] };

async function open(): Promise<Peer> {
  const system = await startSystem(
    {
      HOLDPOINT_TOOLS: fileURLToPath(new URL('holdpoint-tool.ts', import.meta.url)),
      HOLDPOINT_WORKER_STEPS: '40',
      HOLDPOINT_WORKER_TURNS: '40',
    },
    {},
  );
  const { client } = system;
  const preload = fileURLToPath(new URL('../telemetry-preload.ts', import.meta.url));
  const worker = await system.startWorker({}, preload);
  const endsOf = async (runId: string): Promise<number[]> => {
    const ends: number[] = [];
    for await (const { type, time } of client.events(runId)) if (type === 'step.succeeded') ends.push(Date.parse(time));
    return ends;
  };
  return {
    async run({ runs, steps }) {
      const plan = { groups: Array.from({ length: steps }, () => ({ steps: [call] })) };
      const all = await Promise.all(Array.from({ length: runs }, () => succeed(client, { toolset: 'begun', plan })));
      return Promise.all(all.map(({ id }) => endsOf(id)));
    },
    async park(count) {
      const plan = { groups: [{ steps: [call] }] };
      const keys: string[] = [];
      for (let number = 0; number < count; number++) {
        const { run } = await client.createRun({ toolset: 'begun', plan, policy: hold });
        keys.push(run.id);
      }
      for (const key of keys) await client.waitForRun(key, { until: ({ pending_approvals }) => pending_approvals > 0 });
      // The job of the step falls asleep right after the approval is there.
      await delay(100);
      return keys;
    },
    async release(key) {
      const [approval] = (await client.listApprovals({ run_id: key })).data;
      if (approval === undefined) throw new Error(`the run ${key} has no approval`);
      const from = performance.timeOrigin + performance.now();
      await client.decideApproval(approval.id, { decision: 'approve', action_digest: approval.action_digest });
      await client.waitForRun(key);
      const [step] = (await client.listSteps(key)).data;
      const { result } = await client.getStep(step?.id ?? '');
      return (result as { at: number }).at - from;
    },
    processes: async () => {
      process.kill(worker.pid, 'SIGUSR2');
      await delay(300);
      return { server: [system.redis.pid(), apiPid()], worker: worker.pid };
    },
    async stop() {
      await system.end();
      rmSync(system.directory, { recursive: true, force: true });
    },
  };

  /** The pid from the lines of the API's log. */
  function apiPid(): number {
    const [line = '{}'] = readFileSync(`${system.directory}/api.log`, 'utf8')
      .split('\n')
      .filter((one) => one.includes('"pid"'));
    return Number(JSON.parse(line).pid);
  }
}

await servePeer(open);
