import { prepareSchema, type RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { refusedCommand } from '../approvals/judge-described.ts';
import { requestCancel, requestResume, submitRun } from '../commands/index.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { listSteps } from '../queries/index.ts';
import { calm } from '../testing/deliver-all.ts';
import { inForce } from '../testing/in-force.ts';
import { deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { openSpec } from '../testing/run-spec.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });
const write = { args: { effect: 'workspace' } };
const preparing = (spec: RunSpec, ...commands: string[]): RunSpec => ({
  ...spec,
  prepare: prepareSchema.parse({ commands: commands.map((command) => ({ command })) }),
});
const submit = async (deps: InMemoryWorker['deps'], spec: RunSpec) =>
  (await submitRun(deps, { spec, by: 'test' })).runId;

test('a worker that dies at any command to Redis: each prepared command is in the files once, before the first step', async () => {
  for (const when of ['before', 'after'] as const) {
    const points = killPoints();
    for (let n = points.from; ; n += points.every) {
      await engine.deps.redis.flushdb();
      const { deps, treeOf } = inMemoryWorker(engine);
      const runId = await submit(deps, preparing(specOf([[write]]), 'one', 'two'));
      const dying = dyingAt(deps, n, when);
      await deliverAll(deps, (delivery) => (delivery === 1 ? dying.deps : deps));
      if ((await listSteps(deps, runId)).run.status !== 'succeeded') {
        await sweepOnce(deps);
        await deliverAll(deps);
      }
      const { run, steps } = await listSteps(deps, runId);
      expect(run).toMatchObject({ status: 'succeeded', prepare: 'done', prepared: 2 });
      expect(treeOf(runId)).toEqual(['one', 'two', ...steps.map(({ id }) => id)]);
      const events = await soundLog(deps, runId);
      expect(events.filter(({ type }) => type === 'workspace.prepared')).toHaveLength(2);
      const prepared = events.findLast((event) => event.type === 'workspace.prepared');
      expect(run.base).toBe(prepared?.data.snapshot);
      if (!dying.died()) break;
    }
  }
});

test('a failed command pauses the run on the files before it, and a resume runs it again', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, preparing(openSpec(), 'one', 'fail', 'three'));
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run).toMatchObject({
    ...{ status: 'paused', prepared: 1, prepare: 'due', turn: 0 },
    reason: { code: 'prepare_failed', message: expect.stringContaining('exit code 1') },
  });
  expect(treeOf(runId)).toEqual(['one']);
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const events = await soundLog(deps, runId);
  const begun = events.flatMap((event) => (event.type === 'workspace.preparing' ? [event.data.number] : []));
  expect(begun).toEqual([1, 2, 2]);
  await requestCancel(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run.status).toBe('canceled');
});

test('a cancel ends a command, and nothing of the run starts', async () => {
  const abort = new AbortController();
  const faults = { task: async () => abort.abort('canceled') };
  const { deps } = inMemoryWorker(engine, faults);
  const runId = await submit(deps, preparing(specOf([[write]]), 'one'));
  const running = { ...calm(), signal: abort.signal };
  await handleTurn(deps, { run_id: runId, turn: 1 }, running);
  await requestCancel(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect(run.status).toBe('canceled');
  expect(steps).toEqual([]);
});

test("an operator's rule that holds or denies refuses a command; the run's own hold does not", async () => {
  const spec = preparing(specOf([[write]], { policy: { rules: [{ match: {}, action: 'hold' }] } }), 'npm ci');
  const { catalog } = inMemoryWorker(engine).deps;
  const under = (rules: object[]) =>
    refusedCommand({ catalog, operatorPolicy: () => inForce({ rules: rules as never, publish: 'allow' }) }, spec);
  expect(refusedCommand({ catalog }, spec)).toBeUndefined();
  expect(under([{ match: { tool: 'bash' }, action: 'hold' }])).toMatchObject({ index: 0 });
  expect(under([{ match: { tool: 'prepare' }, action: 'deny' }])?.message).toContain('is denied');
  expect(under([{ match: { tool: 'write_file' }, action: 'hold' }])).toBeUndefined();
  // The shell of the run's own toolset.
  expect(under([{ match: { tool: 'execute' }, action: 'deny' }])?.message).toContain('is denied');

  // A policy that came after the submission pauses the run.
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, spec);
  const operator = inForce({ rules: [{ match: { tool: 'bash' }, action: 'hold' }] as never, publish: 'allow' });
  await deliverAll({ ...deps, operatorPolicy: () => operator });
  expect((await listSteps(deps, runId)).run).toMatchObject({ status: 'paused', reason: { code: 'prepare_refused' } });
  const refused = { ...deps, operatorPolicy: () => operator };
  await expect(submit(refused, spec)).rejects.toMatchObject({ code: 'prepare_refused' });
});
