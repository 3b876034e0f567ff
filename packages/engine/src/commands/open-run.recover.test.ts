import type { Json } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import { listSteps } from '../queries/index.ts';
import { Died, deliverAll, dyingAt, inMemoryWorker, openSpec, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { finishRun } from './finish-run.ts';
import { sendCalls } from './send-calls.ts';
import { submitRun } from './submit-run.ts';

const engine = useTestEngine();

/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 7;
const write = { effect: 'workspace' };
const turns: Json[][] = [[write, { effect: 'read' }], [write, write], [{ effect: 'workspace', asked: true }]];
const by = 'test';

/** A client whose answer was lost sends the same again. */
async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
  }
}

test.each([
  ['before', 'each turn is settled before the next'],
  ['after', 'each turn is settled before the next'],
  ['before', 'all turns are sent at once'],
  ['after', 'all turns are sent at once'],
] as const)(
  'API and worker that die %s any one command to Redis lose no calls and make none twice, when %s',
  async (when, order) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, tree, executions } = inMemoryWorker(engine);
      await deps.redis.flushdb();
      const { runId } = await submitRun(deps, { spec: openSpec(), by });
      const dying = dyingAt(deps, commands, when);
      const now = () => (dying.died() ? deps : dying.deps);
      const deliver = async () => {
        await deliverAll(deps, now);
        await sweepOnce(deps);
        await deliverAll(deps, now);
      };
      if (order === 'each turn is settled before the next') await deliver();
      for (const [turn, args] of turns.entries()) {
        const calls = args.map((one) => ({ tool: 'count', args: one }));
        const idempotency = { key: `turn ${turn}`, body: calls };
        const send = (api: EngineDeps) => sendCalls(api, runId, { calls, by, idempotency });
        expect(await untilAnswered(() => send(now()))).toBe(turn + 1);
        if (order === 'each turn is settled before the next') await deliver();
      }
      await deliver();
      await untilAnswered(() => finishRun(now(), runId, {}));
      await deliver();
      faulted = dying.died();
      const { run, steps } = await listSteps(deps, runId);
      expect([commands, run.status, run.steps]).toEqual([commands, 'succeeded', 5]);
      const wrote = steps.filter(({ effect }) => effect === 'workspace').map(({ id }) => id);
      expect([commands, tree]).toEqual([commands, wrote]);
      expect(steps.map(({ status }) => status)).toEqual(Array(5).fill('succeeded'));
      if (!faulted) expect(executions).toHaveLength(5);
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(40);
  },
);
