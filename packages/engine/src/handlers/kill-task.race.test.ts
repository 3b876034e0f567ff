import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { readTasks } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { tapCommands } from '../testing/tap-commands.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { handleStep } from './handle-step.ts';
import { handleTask } from './handle-task.ts';
import { handleTurn } from './handle-turn.ts';

const engine = useTestEngine({ fresh: true });
const background = { name: 'bg', args: { effect: 'workspace', background: 'hello' } };
const kill = { args: { effect: 'read', kills: { $from: 'bg', pointer: '/task_id' } } };

/** A run whose background command ends by itself, with a call that kills it at the n-th command of its worker, or while it runs. */
async function killAt(moment: number | 'while it runs') {
  const worker = inMemoryWorker(engine, { task: async () => void (moment === 'while it runs' && (await request())) });
  const { deps } = worker;
  const { runId } = await submitRun(deps, { spec: specOf([[background], [kill]]), by: 'test' });
  const stepOf = async (at: number) => (await listSteps(deps, runId)).steps[at]?.id ?? '';
  const step = async (at: number) => handleStep(deps, { run_id: runId, step_id: await stepOf(at) }, calm());
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  await step(0);
  await handleTurn(deps, { run_id: runId, turn: 2 }, calm());
  const taskOf = async () => (await readTasks(deps.redis, runId))[0];
  const stop = new AbortController();
  let told: Promise<unknown> | undefined;
  const request = async (): Promise<void> => {
    told = step(1);
    const requested = async () => {
      const task = await taskOf();
      return task?.kill !== undefined || task?.ended_at !== undefined;
    };
    await expect.poll(requested, { interval: 2 }).toBe(true);
    // As the message of the request does it.
    stop.abort('canceled');
  };
  const ends: string[] = [];
  const runTask: typeof deps.executor.runTask = async (...args) => {
    const end = await deps.executor.runTask(...args);
    ends.push(end.status);
    return end;
  };
  let commands = 0;
  const tapped = tapCommands({ ...deps, executor: { ...deps.executor, runTask } }, async (command, send) => {
    commands = command;
    if (command === moment) await request();
    return send();
  });
  const taskId = (await taskOf())?.id ?? '';
  await handleTask(tapped, { run_id: runId, task_id: taskId }, { signal: stop.signal, lastTry: false });
  if (told === undefined) await request();
  await told;
  await deliverAll(deps);
  const text = (await deps.outputs.read(taskId, { stream: 'stdout', from: 0, maxBytes: 99 })).text;
  return { deps, runId, ends, text, isOver: typeof moment === 'number' && commands < moment, task: await taskOf() };
}

async function expectTruth({ deps, runId, ends, text, task }: Awaited<ReturnType<typeof killAt>>, at: string) {
  const { run, steps } = await listSteps(deps, runId);
  expect(run, at).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  const events = await soundLog(deps, runId);
  const count = (type: string) => events.filter((event) => event.type === type).length;
  expect([count('task.ended'), count('task.exited')], at).toEqual([1, ends.length]);
  // A command that did not begin was killed.
  const status = ends[0] ?? 'killed';
  expect(ends.length, at).toBeLessThanOrEqual(1);
  expect(task, at).toMatchObject({ status, outcome: { exit_code: status === 'killed' ? null : 0 } });
  expect(text, at).toBe(ends.length === 0 ? '' : 'hello');
  const [, called] = steps;
  const value = called?.outcome?.value;
  const exitCode = task?.outcome?.exit_code;
  expect(value && 'json' in value ? value.json : undefined, at).toMatchObject({
    ...{ id: task?.id, status },
    outcome: { exit_code: exitCode },
  });
  return status;
}

test('a call that kills a command says how it ended, whenever it meets the end of the command', async () => {
  const statuses: string[] = [];
  for (let command = 1; ; command++) {
    const story = await killAt(command);
    statuses.push(await expectTruth(story, `killed at command ${command}`));
    if (story.isOver) break;
  }
  expect(statuses.length).toBeGreaterThan(10);
  expect(new Set(statuses)).toEqual(new Set(['killed', 'completed']));
});

test('a command that is killed while it runs has no exit code, and the call says so', async () => {
  expect(await expectTruth(await killAt('while it runs'), 'while it runs')).toBe('killed');
});
