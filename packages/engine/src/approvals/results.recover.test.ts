import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { dyingAt } from '../testing/dying-process.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

/** Between the commands at which a worker dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 7;
const policy = { rules: [{ match: { effect: 'workspace' }, action: 'hold', preview: 'run' }] };
const write = { args: { effect: 'workspace' } };

test.each([
  ['before', 'approve'],
  ['after', 'approve'],
  ['before', 'reject'],
  ['after', 'reject'],
] as const)(
  'a worker that dies %s any one command to Redis applies a result that people %s once or never',
  async (when, decision) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, treeOf, executions, previews } = inMemoryWorker(engine);
      await deps.redis.flushdb();
      const { runId } = await submitRun(deps, { spec: specOf([[write]], { policy }), by: 'test' });
      const dying = dyingAt(deps, commands, when);
      const deliver = () => deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      await deliver();
      await sweepOnce(deps);
      await deliver();
      const [view] = await pendingApprovals(deps, runId);
      expect(view?.approval.request.uses, `death at command ${commands}`).toMatch(/^result /);
      expect(treeOf(runId)).toEqual([]);
      const ran = executions.length;
      await decideOn(deps, view, { decision });
      await deliver();
      await sweepOnce(deps);
      await deliver();
      faulted = dying.died();
      const { run, steps } = await listSteps(deps, runId);
      const isApplied = decision === 'approve';
      expect([commands, run.status]).toEqual([commands, isApplied ? 'succeeded' : 'failed']);
      expect([commands, treeOf(runId)]).toEqual([commands, isApplied ? steps.map(({ id }) => id) : []]);
      expect(executions).toHaveLength(ran);
      if (!faulted) expect([...previews]).toEqual([]);
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(20);
  },
);
