import { expect, test } from 'vitest';
import { requestCancel, submitRun } from '../commands/index.ts';
import type { ExecutionContext } from '../ports/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { dyingAt } from '../testing/dying-process.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 5;
const allowAll = { rules: [{ match: {}, action: 'allow' as const }] };

/** A call whose result comes later, and whose other side asks a person before. */
async function begin() {
  const executed: ExecutionContext[] = [];
  const worker = inMemoryWorker(engine, {
    execute: async (context) => {
      executed.push(context);
    },
  });
  const { deps } = worker;
  await deps.redis.flushdb();
  const args = { later: 3, questions: 1, effect: 'external' };
  const { runId } = await submitRun(deps, { spec: specOf([[{ args }]], { policy: allowAll }), by: 'test' });
  const look = async () => {
    const { run, steps } = await listSteps(deps, runId);
    return { run, step: steps[0] };
  };
  const question = async () => (await pendingApprovals(deps, runId))[0];
  return { ...worker, runId, executed, look, question };
}

const overs = (executed: readonly ExecutionContext[]) => executed.filter(({ awaited }) => awaited?.over);

test.each(['before', 'after'] as const)(
  'a process that dies %s any one command to Redis asks a person once, and the other side gets the answer with the same work',
  async (when) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, runId, executed, look, question } = await begin();
      const dying = dyingAt(deps, commands, when);
      const alive = () => (dying.died() ? deps : dying.deps);
      const kinds: string[] = [];
      for (let rounds = 0; rounds < 14 && (await look()).run.status !== 'succeeded'; rounds++) {
        await deliverAll(deps, alive);
        await sweepOnce(deps);
        const view = await question();
        if (view === undefined) continue;
        const { kind } = view.approval.request;
        kinds.push(kind);
        const decision = kind === 'input' ? { decision: 'respond' as const, message: '7' } : {};
        await decideOn(alive(), view, decision).catch((error: unknown) => {
          if (!dying.died()) throw error;
        });
      }
      faulted = dying.died();
      expect([commands, (await look()).run.status]).toEqual([commands, 'succeeded']);
      const answered = executed.filter((one) => one.answered !== undefined);
      expect([commands, answered.length > 0]).toEqual([commands, true]);
      for (const one of answered) {
        expect(one).toMatchObject({ answered: { round: 1, answers: { k: { n: 7 } } } });
        expect([commands, one.awaited !== undefined]).toEqual([commands, true]);
      }
      expect(overs(executed)).toEqual([]);
      if (!faulted) expect(kinds).toEqual(['input']);
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(5);
  },
);

test.each(['declines', 'cancels'])('a person who %s lets go of the work', async (what) => {
  const { deps, runId, executed, look, question } = await begin();
  for (let rounds = 0; rounds < 4 && (await question()) === undefined; rounds++) {
    await deliverAll(deps);
    await sweepOnce(deps);
  }
  const view = await question();
  if (what === 'cancels') await requestCancel(deps, runId, { by: 'ann' });
  else await decideOn(deps, view, { decision: 'reject', message: 'no' });
  for (let rounds = 0; rounds < 3; rounds++) {
    await deliverAll(deps);
    await sweepOnce(deps);
  }
  expect((await look()).step?.status).toBe(what === 'cancels' ? 'killed' : 'failed');
  expect(overs(executed)).toHaveLength(1);
  await soundLog(deps, runId);
});
