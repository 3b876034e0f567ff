import { expect, test } from 'vitest';
import { allowBash, bash, finished, plan, succeed, useSystem } from '../harness/index.ts';

const system = useSystem();
const { client } = system;

const mebibyte = 1024 * 1024;

test.each([
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

test('a command that prints more than the run keeps runs to its end, and its output is cut', async () => {
  const steps = [bash('seq 300000; seq 300000 >&2; exit 3')];
  const limits = { command: { output_bytes: 4096 } };
  const plan = { groups: [{ on_error: 'continue' as const, steps }] };
  const run = await succeed(client, { plan, limits, policy: { rules: [allowBash] } });
  const [step] = (await client.listSteps(run.id)).data;
  const { value } = (await client.getStep(step?.id ?? '')).result as { value: Record<string, string | number> };
  expect(step?.error?.code).toBe('EEXIT');
  expect(value).toMatchObject({ exit_code: 3, stdout_truncated: true, stdout_bytes: 1_988_895 });
  expect(String(value.stdout)).toMatch(/^1\n2\n[\s\S]*bytes omitted[\s\S]*\n300000\n$/);
  expect(`${value.stdout}${value.stderr}`.length).toBeLessThan(4200);
});

test('the wall time of the run bounds a call that asks for more', async () => {
  const sleep = { tool: 'bash', args: { command: 'sleep 1000', timeout_s: 600 } };
  const { run } = await client.createRun({ plan: plan([sleep]), limits: { step_wall_s: 1 } });
  expect(await finished(client, run.id)).toMatchObject({ status: 'failed', reason: { code: 'ETIMEOUT' } });
  const [step] = (await client.listSteps(run.id)).data;
  expect(step?.status).toBe('timed_out');
});
