import type { Json } from '@holdpoint/contract';
import { describeTouches } from '@holdpoint/policy';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { listSteps } from '../queries/list-steps.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import type { Faults } from '../testing/faults.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { readContext } from './context/read-context.ts';
import { advisoryOf, listRules } from './remembered-rules.ts';

const engine = useTestEngine({ fresh: true });
const policy = { rules: [{ match: {}, action: 'hold' }] };
const words = { words: ['description'] };
let names = 0;
const call = (description: Json | undefined, more: Record<string, Json> = {}) => ({
  name: `call${++names}`,
  args: { effect: 'workspace', ...(description !== undefined && { description }), ...more } as Record<string, Json>,
});

function start(faults: Faults = {}) {
  const worker = inMemoryWorker(engine, faults);
  const submit = async (...calls: ReturnType<typeof call>[]) => {
    const spec = specOf(
      calls.map((one) => [one]),
      { policy },
    );
    const { runId } = await submitRun(worker.deps, { spec, by: 'eve', kind: 'person' });
    await deliverAll(worker.deps);
    return runId;
  };
  const statuses = async (runId: string) => (await listSteps(worker.deps, runId)).steps.map(({ status }) => status);
  const remember = async (runId: string, scope: 'run' | 'policy' = 'policy') => {
    const [view] = await pendingApprovals(worker.deps, runId);
    await decideOn(worker.deps, view, { by: 'ann', remember: { scope } });
    await deliverAll(worker.deps);
  };
  return { ...worker, submit, statuses, remember };
}

test('50 calls with a description of their own need one decision, and each keeps its own words', async () => {
  const { deps, submit, statuses, remember, executions } = start({ advisory: words });
  const runId = await submit(...Array.from({ length: 50 }, (_, n) => call(`look, the ${n}. time`)));
  await remember(runId, 'run');
  expect(await statuses(runId)).toEqual(Array.from({ length: 50 }, () => 'succeeded'));
  expect(executions).toHaveLength(50);
  const { approvals } = await listSteps(deps, runId);
  expect(approvals.filter(({ decision }) => decision?.rule_id === undefined)).toHaveLength(1);
  expect(new Set(approvals.map(({ decision }) => decision?.action_digest)).size).toBe(50);
  const [made] = (await listRules(deps, {}, { limit: 10 })).items;
  expect(made?.rule.made).toMatchObject({ leaves_out: ['description'] });
  await soundLog(deps, runId);
});

test('a rule covers no other argument, at no other place', async () => {
  const { submit, statuses, remember } = start({ advisory: words });
  await remember(await submit(call('one', { at: { description: 'inner' } })));
  expect(await statuses(await submit(call(undefined, { at: { description: 'inner' } })))).toEqual(['succeeded']);
  expect(await statuses(await submit(call({ a: 1 }, { at: { description: 'inner' } })))).toEqual(['succeeded']);
  const others: Record<string, Json>[] = [
    ...[{ at: { description: 'other' } }, { at: {} }],
    ...[{ Description: 'x' }, { 'description ': 'x' }],
  ];
  for (const more of others) {
    expect(
      await statuses(await submit(call('one', { at: { description: 'inner' }, ...more }))),
      JSON.stringify(more),
    ).toEqual(['parked']);
  }
});

test('a rule of an earlier version is found, and answers exactly its call', async () => {
  const faults: Faults = {};
  const { deps, submit, statuses, remember } = start(faults);
  await remember(await submit(call('one')));
  const [old] = (await listRules(deps, {}, { limit: 10 })).items;
  expect(Object.keys(old?.rule.made ?? {})).not.toContain('leaves_out');
  faults.advisory = words;
  expect(await statuses(await submit(call('one')))).toEqual(['succeeded']);
  const other = await submit(call('two'));
  expect(await statuses(other)).toEqual(['parked']);
  await remember(other);
  expect(await statuses(await submit(call('three')))).toEqual(['succeeded']);
  // Words that have a say again: the rule of then covers nothing, and the oldest one its call.
  faults.advisory = {};
  expect(await statuses(await submit(call('three')))).toEqual(['parked']);
  expect(await statuses(await submit(call('one')))).toEqual(['succeeded']);
});

test('earlier decisions on the same call are counted as a rule compares them', async () => {
  const { deps, submit } = start({ advisory: words });
  for (const description of ['one', 'two']) {
    const [view] = await pendingApprovals(deps, await submit(call(description)));
    await decideOn(deps, view, { by: 'ann' });
  }
  const [view] = await pendingApprovals(deps, await submit(call('three')));
  if (view === undefined) throw new Error('nothing is held');
  expect((await readContext(deps, 'default', view)).decided?.same).toMatchObject({ approve: 2 });
});

test('a time limit is left out where each command of the call only reads, in the foreground', () => {
  const leavesOut = (command: string, more: object = {}) =>
    advisoryOf(
      {
        advisory: () => ({ words: ['description'], limits: ['timeout'] }),
        describe: () => ({
          ...({ ok: true, args: {}, effect: 'workspace', risk: 'high' } as const),
          touches: { paths: [], hosts: [], command, ...more },
        }),
      },
      { toolset: 'test', tool: 'count', args: {} },
    );
  expect(describeTouches({ paths: [], hosts: [], command: 'git status' }).commands).toHaveLength(1);
  expect(leavesOut('git status')).toEqual(['description', 'timeout']);
  expect(leavesOut('sleep 100; git status')).toEqual(['description', 'timeout']);
  for (const command of ['sleep 100; rm x', 'git status; make', 'git status > a', '(', '']) {
    expect(leavesOut(command), command).toEqual(['description']);
  }
  expect(leavesOut('git status', { background: true })).toEqual(['description']);
  expect(leavesOut('git status', { paths: [{ path: 'a', access: 'write' }] })).toEqual(['description']);
});
