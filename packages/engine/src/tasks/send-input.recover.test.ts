import { expect, test } from 'vitest';
import { requestCancel } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTask } from '../handlers/handle-task.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { readTasks } from '../log/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

const command = (input: 'pipe' | 'none') => ({
  name: 'bg',
  args: { effect: 'workspace', background: 'repl', ...(input === 'pipe' && { input }) },
});
const send = (text: string) => ({
  args: { effect: 'workspace', sends: { $from: 'bg', pointer: '/task_id' }, text },
});

/** A run whose background command reads until its input ends. The run stands before its second turn. */
async function reading(groups: Parameters<typeof specOf>[0], input: 'pipe' | 'none' = 'pipe') {
  const read: string[] = [];
  const worker = inMemoryWorker(engine, {
    async task(signal, inputs) {
      if (input === 'none') return;
      for await (const { text } of inputs(signal)) read.push(text);
    },
  });
  const { deps } = worker;
  const { runId } = await submitRun(deps, { spec: specOf([[command(input)], ...groups]), by: 'test' });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const stepOf = async (at: number) => (await listSteps(deps, runId)).steps[at]?.id ?? '';
  await handleStep(deps, { run_id: runId, step_id: await stepOf(0) }, calm());
  const [task] = await readTasks(deps.redis, runId);
  const stop = new AbortController();
  const context = { signal: stop.signal, lastTry: false };
  const running = handleTask(deps, { run_id: runId, task_id: task?.id ?? '' }, context);
  const step = async (at: number, on: InMemoryWorker['deps'] = deps) =>
    handleStep(on, { run_id: runId, step_id: await stepOf(at) }, calm());
  const turn = (number: number) => handleTurn(deps, { run_id: runId, turn: number }, calm());
  const value = async (at: number) => {
    const found = (await listSteps(deps, runId)).steps[at]?.outcome?.value;
    return found && 'json' in found ? found.json : undefined;
  };
  return { deps, runId, stop, running, read, step, turn, value };
}

test.each(['before', 'after'] as const)(
  'a worker that dies %s a command of the step sends its input at most once, and the step says whether',
  async (when) => {
    const points = killPoints();
    let commands = points.from;
    for (let faulted = true; faulted; commands += points.every) {
      await engine.deps.redis.flushall();
      const { deps, runId, stop, running, read, step, turn, value } = await reading([[send('one'), send('two')]]);
      await turn(2);
      const dying = dyingAt(deps, commands, when);
      await step(1, dying.deps).catch(() => {});
      faulted = dying.died();
      if (!faulted) await step(2);
      // The job of the command is delivered again as well, as after the death of its worker.
      await deliverAll(deps);
      const note = `death at command ${commands}`;
      const sent = [];
      for (const at of [1, 2]) if (((await value(at)) as { status: string }).status === 'sent') sent.push(at);
      expect(sent, note).toEqual(faulted ? expect.any(Array) : [1, 2]);
      const events = (await soundLog(deps, runId)).filter(({ type }) => type === 'task.input_sent');
      const { steps } = await listSteps(deps, runId);
      expect(
        events.map((event) => 'step_id' in event && event.step_id),
        note,
      ).toEqual(sent.map((at) => steps[at]?.id));
      await expect.poll(() => read, { message: note }).toEqual(sent.map((at) => ['one', 'two'][at - 1]));
      stop.abort('canceled');
      await running;
    }
  },
);

test('two deliveries of one step at the same moment send its input once', async () => {
  const { deps, runId, running, read, step, turn } = await reading([[send('one')], [send('end')]]);
  await turn(2);
  await Promise.allSettled([step(1), step(1), step(1)]);
  await turn(3);
  await step(2);
  await running;
  expect(read).toEqual(['one', 'end']);
  await soundLog(deps, runId);
});

test('an input is refused without a reader: no input, an ended input, an ended command, a task that is not there', async () => {
  const closed = await reading([[send('x')]], 'none');
  await closed.running;
  await closed.turn(2);
  await closed.step(1);
  expect(await closed.value(1)).toMatchObject({ status: 'refused', problem: { code: 'ETASKENDED' } });

  const ended = await reading([[send('end')], [send('late')]]);
  await ended.turn(2);
  await ended.step(1);
  await ended.running;
  await ended.turn(3);
  await ended.step(2);
  expect(await ended.value(1)).toEqual({ status: 'sent', stdout: 4, stderr: 0 });
  expect(await ended.value(2)).toMatchObject({ problem: { code: 'ETASKENDED' } });
  expect(ended.read).toEqual(['end']);
});

test('the input ends with its command when the run is canceled', async () => {
  const { deps, runId, stop, running, read, step, turn } = await reading([[send('one')]]);
  await turn(2);
  await step(1);
  await expect.poll(() => read).toEqual(['one']);
  await requestCancel(deps, runId, { by: 'ann' });
  stop.abort('canceled');
  await running;
  expect(await readTasks(deps.redis, runId)).toMatchObject([{ status: 'killed' }]);
});
