import type { PastCall, PastCalls, RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { forkRun, requestPause, requestResume, submitRun, undoSteps } from '../commands/index.ts';
import { Died, deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { listSteps } from './list-steps.ts';

const engine = useTestEngine({ fresh: true });

const call = (mark: string, more: object = {}) => ({ name: mark, args: { effect: 'workspace', mark, ...more } });

/** Notes what each execution sees of the past, by its step. */
function watching(faults: { die?: () => boolean } = {}) {
  const seen = new Map<string, (PastCall | undefined)[]>();
  const had: boolean[] = [];
  const ask = async (stepId: string, past: PastCalls) => {
    seen.set(stepId, [...(seen.get(stepId) ?? []), await past.last(['count'])]);
    had.push(await past.had({ tool: 'count', args: call('bad', { fail: true }).args }, 'EASKED'));
  };
  const { deps } = inMemoryWorker(engine, {
    async execute({ stepId, past }) {
      await ask(stepId, past);
      if (faults.die?.()) throw new Died();
    },
  });
  const marks = async (runId: string) => {
    const { steps } = await listSteps(deps, runId);
    return steps.map(({ id }) => seen.get(id)?.map((one) => (one?.args as { mark?: string } | undefined)?.mark));
  };
  return { deps, seen, had, marks };
}

async function finished(deps: InMemoryWorker['deps'], spec: RunSpec): Promise<string> {
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  return runId;
}

test('a call sees the last one before it, with its outcome', async () => {
  const { deps, seen, marks, had } = watching();
  const spec = specOf([[call('a')], [call('bad', { fail: true })], [call('c')]], { onError: 'continue' });
  const runId = await finished(deps, spec);
  expect(await marks(runId)).toEqual([[undefined], ['a'], ['bad']]);
  const { steps } = await listSteps(deps, runId);
  expect(seen.get(steps[2]?.id ?? '')?.[0]).toEqual({
    ...{ step_id: steps[1]?.id, tool: 'count', args: call('bad', { fail: true }).args, status: 'failed' },
    ...{ value: undefined, error: steps[1]?.outcome?.error, started_at: steps[1]?.started_at },
  });
  expect(had).toEqual([false, false, true]);
});

test('every attempt of a call sees the same', async () => {
  let deaths = 1;
  const { deps, marks } = watching({ die: () => deaths-- > 0 });
  const runId = await finished(deps, specOf([[call('a')], [call('b')]]));
  await deliverAll(deps);
  expect(await marks(runId)).toEqual([[undefined, undefined], ['a']]);
});

test('what was undone is no part of the past', async () => {
  const { deps, marks } = watching();
  const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
  const spec = specOf([[call('a')], [call('b')], [{ args: { effect: 'external', mark: 'c' } }]], { policy });
  const runId = await finished(deps, spec);
  await requestPause(deps, runId, 'test');
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'test' });
  await requestResume(deps, runId, { by: 'test' });
  await deliverAll(deps);
  const seen = await marks(runId);
  expect(seen.filter((one) => one !== undefined)).toEqual([[undefined], ['a'], ['a']]);
});

test('a fork has the past of the other run up to its moment, also when that is undone there later', async () => {
  const { deps, marks } = watching();
  const spec = specOf([[call('a')], [call('b')], [call('c')]]);
  const runId = await finished(deps, spec);
  const { runId: child } = await forkRun(deps, runId, { fromStep: 2, changes: {}, by: 'test' });
  await deliverAll(deps);
  expect(await marks(child)).toEqual([['b']]);
  const { runId: grandchild } = await forkRun(deps, child, { fromStep: 0, changes: {}, by: 'test' });
  await deliverAll(deps);
  expect((await marks(grandchild)).at(0)).toEqual(['b']);
});
