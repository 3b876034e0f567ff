import type { CreateRun } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { finished, until, useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();

type Groups = NonNullable<CreateRun['plan']>['groups'];
const task = { $from: 'bg', pointer: '/task_id' };
const background = (command: string, input?: 'pipe' | 'terminal') => ({
  steps: [{ name: 'bg', tool: 'bash', args: { command, run_in_background: true, ...(input && { input }) } }],
});
const type = (text: string, more: object = {}) => ({
  steps: [{ tool: 'task_input', args: { task_id: task, text, wait_s: 10, ...more } }],
});
const output = { steps: [{ tool: 'task_output', args: { task_id: task, wait_s: 30 } }] };

/** Failed calls do not end the plan. */
const going = (groups: Groups): Groups => groups.map((group) => ({ ...group, on_error: 'continue' as const }));

async function stepsOf(...groups: Groups) {
  const { run } = await system.client.createRun({ plan: { groups: going(groups) } });
  const ended = await finished(system.client, run.id);
  const steps = (await system.client.listSteps(run.id)).data;
  const whole = await Promise.all(steps.map(({ id }) => system.client.getStep(id)));
  return { ended, steps: whole, results: whole.map(({ result }) => result as Record<string, { text: string }>) };
}

const repl = `python3 -c '
import sys
count = 0
for line in sys.stdin:
    count += 1
    print(count, line.strip().upper(), flush=True)
open("made.txt", "w").write(str(count))'`;

test('a program in the background answers what is typed into its input, until the input ends', async () => {
  const { ended, results } = await stepsOf(
    background(repl, 'pipe'),
    type('one'),
    type('two\nthree'),
    type('', { enter: false, end: true }),
    output,
  );
  expect(ended.status).toBe('succeeded');
  expect(results[1]?.stdout).toMatchObject({ text: '1 ONE\n', total_bytes: 6 });
  expect(results[2]?.stdout?.text).toBe('2 TWO\n3 THREE\n');
  expect(results[4]).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(results[4]?.stdout?.text).toBe('1 ONE\n2 TWO\n3 THREE\n');
  expect((await system.client.diff(ended.id)).files.map(({ path }) => path)).toEqual(['made.txt']);
});

test('a program in a terminal asks, is answered, and is interrupted by Ctrl-C', async () => {
  const { ended, results } = await stepsOf(
    background('read -p "Name? " name; echo "Hello $name"; sleep 600', 'terminal'),
    type('Ann'),
    type('\u0003', { enter: false }),
    { steps: [{ tool: 'task_output', args: { task_id: task, wait_s: 5 } }] },
  );
  expect(ended.status).toBe('succeeded');
  expect(results[1]?.stdout?.text.replaceAll('\r', '')).toMatch(/Hello Ann\n$/);
  expect(results[3]).toMatchObject({ status: 'failed', exit_code: 130 });
});

test('an input is refused where nothing reads it, with the way out', async () => {
  const { steps } = await stepsOf(
    background('sleep 600'),
    type('x'),
    { steps: [{ tool: 'task_input', args: { task_id: 'task_none', text: 'x' } }] },
    { steps: [{ tool: 'bash', args: { command: 'cat', input: 'pipe' } }] },
  );
  expect(steps.slice(1).map(({ error }) => error?.code)).toEqual(['ENOINPUT', 'ENOTASK', 'EINVALIDARGS']);
});

test('policies judge a typed text as a command line', async () => {
  const denyRm = { match: { command: { program: 'rm' } }, action: 'deny' as const, reason: 'no' };
  const policy = { rules: [denyRm, { match: {}, action: 'allow' as const }] };
  const groups = [background(repl, 'pipe'), type('one'), type('rm file')];
  const { run } = await system.client.createRun({ plan: { groups }, policy });
  await finished(system.client, run.id);
  const { data } = await system.client.listSteps(run.id);
  expect(data.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'rejected']);
  const [task] = await system.client.listTasks(run.id);
  expect((await system.client.readTaskOutput(task?.id ?? '', {})).text).toBe('1 ONE\n');
});

test('a held text is typed once, after its release', async () => {
  const policy = { rules: [{ match: { tool: 'task_input' }, action: 'hold' as const }] };
  const groups = [background(repl, 'pipe'), type('one'), output];
  const { run } = await system.client.createRun({ plan: { groups }, policy });
  await until('the text waits', async () => (await system.client.getRun(run.id)).status === 'waiting');
  const [approval] = (await system.client.listApprovals({ run_id: run.id })).data;
  await system.client.decideApproval(approval?.id ?? '', {
    decision: 'approve',
    action_digest: approval?.action_digest ?? '',
  });
  await until('the text is typed', async () =>
    (await system.client.listSteps(run.id)).data.some(
      ({ tool, status }) => tool === 'task_input' && status === 'succeeded',
    ),
  );
  const [found] = await system.client.listTasks(run.id);
  await until('the program has answered', async () => {
    const { text } = await system.client.readTaskOutput(found?.id ?? '', {});
    return text === '1 ONE\n';
  });
  await system.client.cancelRun(run.id);
});
