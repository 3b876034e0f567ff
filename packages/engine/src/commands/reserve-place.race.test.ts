import { expect, test } from 'vitest';
import { listSteps } from '../queries/index.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { requestCancel } from './index.ts';
import { reservePlace } from './reserve-place.ts';
import { retryRun } from './retry-run.ts';
import { submitRun } from './submit-run.ts';

const engine = useTestEngine({ fresh: true });
/** It waits for a person. */
const spec = specOf([[{ args: { effect: 'external' } }]], {
  policy: { rules: [{ match: { effect: 'external' }, action: 'hold' }] },
});
const request = { keepExternalEffects: true, by: 'test' };

/** A tenant that may have one active run, and its run, which was canceled. */
async function canceledRun() {
  const deps = { ...inMemoryWorker(engine).deps, activeRuns: 1 };
  const submit = async () => (await submitRun(deps, { spec, by: 'test' })).runId;
  const runId = await submit();
  await deliverAll(deps);
  await requestCancel(deps, runId, { by: 'test' });
  await deliverAll(deps);
  const { run } = await listSteps(deps, runId);
  expect(run.status).toBe('canceled');
  return { deps, run, submit };
}

test('a run that is about to continue keeps its place, also before that is recorded', async () => {
  const { deps, run, submit } = await canceledRun();
  await reservePlace(deps, run.id, { again: run.seq });
  await expect(submit()).rejects.toMatchObject({ code: 'too_many_runs' });
  await retryRun(deps, run.id, request);
  await expect(submit()).rejects.toMatchObject({ code: 'too_many_runs' });
  await deliverAll(deps);
  // Its end is newer than the request, so it frees the place at once.
  await requestCancel(deps, run.id, { by: 'test' });
  await deliverAll(deps);
  await submit();
});

test('the place of a request whose process died is free after a minute', async () => {
  const { deps, run } = await canceledRun();
  await reservePlace(deps, run.id, { again: run.seq });
  const at = (ms: number) => ({ ...deps, now: () => deps.now() + ms });
  const submitAt = (ms: number) => submitRun(at(ms), { spec, by: 'test' });
  await expect(submitAt(50_000)).rejects.toMatchObject({ code: 'too_many_runs' });
  await submitAt(62_000);
});
