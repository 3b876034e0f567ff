import { totalmem } from 'node:os';
import { limitsSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { ceilingsFrom, memoryCeiling } from './ceilings-from.ts';
import { submitRun } from './commands/submit-run.ts';
import { aboveCeilings, cutAtCeilings } from './domain/ceilings.ts';
import { readSpec } from './log/read-spec.ts';
import { listSteps } from './queries/list-steps.ts';
import { deliverAll, inMemoryWorker, specOf } from './testing/index.ts';
import { useTestEngine } from './testing/use-test-engine.ts';

const engine = useTestEngine();

test('the setting is JSON of limits, and says what of it is wrong', () => {
  const text = JSON.stringify({ max_tokens: 5, command: { memory_bytes: 2 ** 30 } });
  expect(ceilingsFrom({ HOLDPOINT_LIMITS: text })).toEqual({ max_tokens: 5, command: { memory_bytes: 2 ** 30 } });
  expect(ceilingsFrom({}).command?.memory_bytes).toBeLessThan(Number.MAX_SAFE_INTEGER);
  expect(() => ceilingsFrom({ HOLDPOINT_LIMITS: '{' })).toThrow('HOLDPOINT_LIMITS: it is no JSON');
  expect(() => ceilingsFrom({ HOLDPOINT_LIMITS: '{"max_token":1}' })).toThrow('max_token');
});

const gib = 2 ** 30;
test.each([
  [8, 4, 1.5],
  [64, 16, 3],
  [64, 4, 12],
  [4, 16, 1],
  [0.5, 4, 0.5],
])('on %d GiB with %d steps at once a command has at most %d GiB', (machine, steps, most) => {
  expect(memoryCeiling(machine * gib, steps)).toBe(most * gib);
});

test('the steps of a worker share its memory, unless the operator says otherwise', () => {
  const of = (env: Record<string, string>) => ceilingsFrom(env).command?.memory_bytes ?? 0;
  expect(of({ HOLDPOINT_WORKER_STEPS: '4' })).toBeLessThan(totalmem() / 4);
  expect(of({ HOLDPOINT_WORKER_STEPS: '1' })).toBeGreaterThan(of({ HOLDPOINT_WORKER_STEPS: '8' }));
  expect(of({ HOLDPOINT_LIMITS: JSON.stringify({ command: { memory_bytes: gib } }) })).toBe(gib);
});

test('what is above is named, and what is left out is cut, not raised', () => {
  const ceilings = { max_turns: 10, max_tokens: 100, command: { processes: 16, memory_bytes: 2 ** 30 } };
  const given = { max_tokens: 101, max_steps: 7, command: { processes: 17 } };
  expect(aboveCeilings(given, ceilings).map(({ path }) => path.join('.'))).toEqual(['max_tokens', 'command.processes']);
  expect(aboveCeilings({}, ceilings)).toEqual([]);
  expect(cutAtCeilings({ max_steps: 7 }, ceilings)).toEqual({
    ...limitsSchema.parse({}),
    ...{ max_turns: 10, max_tokens: 100, max_steps: 7 },
  });
  expect(cutAtCeilings(given, ceilings).command).toEqual({ processes: 16 });
});

test('a ceiling that was lowered binds a run that was submitted before', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const read = [{ args: { effect: 'read' } }];
  const { runId } = await submitRun(deps, { spec: specOf([read, read, read, read]), by: 'test' });
  await deliverAll({ ...deps, ceilings: { max_steps: 2 } });
  const { run } = await listSteps(deps, runId);
  expect(run).toMatchObject({ status: 'paused', steps: 2, reason: { code: 'max_steps' } });
  expect(executions).toHaveLength(2);
});

test('a run that was read under one ceiling is cut at the next one, and computed once for each', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId: id } = await submitRun(deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'test' });
  const [low, high] = [{ max_steps: 2 }, { max_steps: 3 }];
  const read = (ceilings: typeof low | undefined) => readSpec({ ...deps, ceilings }, { id });
  const whole = await read(undefined);
  for (const ceilings of [low, high, low]) {
    const cut = await read(ceilings);
    expect(cut).toEqual({ ...whole, limits: { ...whole.limits, ...ceilings } });
    expect(await read(ceilings)).toBe(cut);
  }
  expect(await read(undefined)).toBe(whole);
});
