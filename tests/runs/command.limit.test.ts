import { expect, test } from 'vitest';
import { allowBash, bash, finished, plan, succeed, useSystem } from '../harness/index.ts';

const system = useSystem();
const { client } = system;

const mebibyte = 1024 * 1024;

test.each([
  { what: 'output', limits: { output_bytes: 4096 }, command: 'yes' },
  { what: 'a file', limits: { file_bytes: mebibyte }, command: 'head -c 4000000 /dev/zero > big' },
  {
    what: 'the workspace',
    limits: { workspace_bytes: 2 * mebibyte },
    command: 'for i in $(seq 4000); do head -c 16384 /dev/zero > f$i; done',
  },
])('a limit of the run on $what ends a command with EQUOTA, and the run continues', async ({ limits, command }) => {
  const groups = [
    { on_error: 'continue' as const, steps: [bash(command)] },
    { steps: [bash('rm -f f* big; echo after')] },
  ];
  const run = await succeed(client, { plan: { groups }, limits: { command: limits }, policy: { rules: [allowBash] } });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map((step) => [step.status, step.error?.code])).toEqual([
    ['failed', 'EQUOTA'],
    ['succeeded', undefined],
  ]);
});

test('the wall time of the run bounds a call that asks for more', async () => {
  const sleep = { tool: 'bash', args: { command: 'sleep 1000', timeout_s: 600 } };
  const { run } = await client.createRun({ plan: plan([sleep]), limits: { step_wall_s: 1 } });
  expect(await finished(client, run.id)).toMatchObject({ status: 'failed', reason: { code: 'ETIMEOUT' } });
  const [step] = (await client.listSteps(run.id)).data;
  expect(step?.status).toBe('timed_out');
});
