import { expect, test } from 'vitest';
import { until, useSystem } from '../harness/index.ts';

const system = useSystem();
const { client } = system;

/** Ends only while the two others run. */
const meeting = (own: string, others: string[]) => ({
  tool: 'execute_bash',
  args: {
    command: `echo ${own} > ${own}; until ${others.map((other) => `[ -s ${other} ]`).join(' && ')}; do sleep 0.02; done; cat ${own} ${others.join(' ')}`,
  },
});

test('concurrent calls run at the same time on one tree, each with its own result and snapshot', async () => {
  const policy = { rules: [{ match: { tool: 'execute_bash' }, action: 'allow' as const }] };
  const { run } = await client.createRun({ open: true, toolset: 'ryan', policy });
  const calls = [meeting('a', ['b', 'c']), meeting('b', ['a', 'c']), meeting('c', ['a', 'b'])];
  const { number } = await client.sendCalls(run.id, { calls, concurrent: true });
  await until('the calls are settled', async () => (await client.getCalls(run.id, number, { waitS: 5 })).settled);
  const { steps } = await client.getCalls(run.id, number);
  expect(steps.map(({ status, attempts }) => [status, attempts])).toEqual(Array(3).fill(['succeeded', 2]));
  const words = steps.map(({ result }) => JSON.stringify(result));
  expect(words[0]).toContain('a\\nb\\nc\\n');
  expect(words[1]).toContain('b\\na\\nc\\n');
  const next = { tool: 'execute_bash', args: { command: 'cat a b c' } };
  const after = await client.sendCalls(run.id, { calls: [next] }, { waitS: 50 });
  expect(JSON.stringify(after.steps[0]?.result)).toContain('a\\nb\\nc\\n');
  await client.finishRun(run.id);
  await client.waitForRun(run.id);
  expect((await client.diff(run.id)).files.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
});
