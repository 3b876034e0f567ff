import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunDetail, runDetailSchema } from '@holdpoint/contract/wire';
import { expect, it } from 'vitest';
import { nextSteps } from '../follow-run.ts';
import { runText } from '../output/index.ts';
import { colorsFor } from '../shell/index.ts';
import { systemForTests } from '../testing/system.ts';

const { root, holdpoint } = systemForTests({
  HOLDPOINT_LIMITS: JSON.stringify({ max_steps: 50, command: { processes: 64 } }),
  HOLDPOINT_MODEL: 'openai-compatible/main',
  OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
});
const plan = join(root, 'plan.yaml');
writeFileSync(plan, 'groups: [{ steps: [{ tool: write_file, args: { path: a.txt, content: one } }] }]\n');

/** Submits a run and returns it as the API shows it. */
async function submitted(...args: string[]): Promise<RunDetail> {
  const { stdout } = await holdpoint('run', '--json', '--detach', ...args);
  const shown = await holdpoint('runs', 'show', JSON.parse(stdout).id, '--json');
  expect(shown).toMatchObject({ code: 0 });
  return runDetailSchema.parse(JSON.parse(shown.stdout));
}

it('rejects a limit above the ceiling and names the setting', async () => {
  const refused = await holdpoint('run', '--plan', plan, '--set', 'limits.max_steps=51');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('max_steps is 51; the operator allows 50 at most (HOLDPOINT_LIMITS)');
  const asJson = await holdpoint('run', '--plan', plan, '--set', 'limits.max_steps=51', '--json');
  expect(JSON.parse(asJson.stdout).error.code).toBe('limit_above_ceiling');
  expect((await submitted('--plan', plan)).request.limits.max_steps).toBe(50);
});

it('doctor shows the ceilings', async () => {
  const { stdout } = await holdpoint('doctor');
  expect(stdout).toMatch(/at most max_steps 50, .*command\.processes 64 \(HOLDPOINT_LIMITS\)/);
});

it('models of sub-agents may be repeated', async () => {
  const models = ['openai-compatible/small', 'openai-compatible/other'];
  const run = await submitted('go', ...models.flatMap((model) => ['--set', `models+=${model}`]));
  expect(run.request.models).toEqual(expect.arrayContaining(models));
  await holdpoint('runs', 'cancel', run.id);
});

it('--set agents gives the run a kind of sub-agent, and says what is wrong in a document', async () => {
  const good = join(root, 'auditor.md');
  writeFileSync(good, '---\ndescription: Finds mistakes\ntools: read_file, glob\nmax_turns: 5\n---\nLook well.\n');
  const run = await submitted('go', '--set', `agents+=@${good}`);
  expect(run.request.agents).toEqual([
    {
      ...{ name: 'auditor', description: 'Finds mistakes', instructions: 'Look well.' },
      ...{ tools: ['read_file', 'glob'], limits: { max_turns: 5 } },
    },
  ]);
  await holdpoint('runs', 'cancel', run.id);
  const bad = join(root, 'bad.md');
  writeFileSync(bad, 'Look well.');
  const refused = await holdpoint('run', 'go', '--set', `agents+=@${bad}`);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('does not begin with front matter') });
  writeFileSync(bad, '---\ndescription: x\ntools: [read_fil]\n---\nLook well.\n');
  const unknown = await holdpoint('run', 'go', '--set', `agents+=@${bad}`);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Nearest: read_file') });
});

it('resume --model continues a paused run with that model, and refuses a name that is none', async () => {
  const run = await submitted('go');
  expect(run.model).toBe('openai-compatible/main');
  expect(await holdpoint('runs', 'pause', run.id)).toMatchObject({ code: 0 });
  const refused = await holdpoint('runs', 'resume', run.id, '--model', 'openai-compatible');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('openai-compatible');
  expect(await holdpoint('runs', 'resume', run.id, '--model', 'openai-compatible/other')).toMatchObject({ code: 0 });
  const shown = await holdpoint('runs', 'show', run.id, '--json');
  expect(runDetailSchema.parse(JSON.parse(shown.stdout)).model).toBe('openai-compatible/other');
  await holdpoint('runs', 'cancel', run.id);
});

it('shows why a run waits for a sub-agent, and how to continue', async () => {
  const run = await submitted('--plan', plan);
  const beneath = { run_id: run.id, task_id: 'task_1', title: 'part\u001b[2J one', depth: 1, approvals: 0 };
  const reason = { code: 'max_tokens', message: 'It took 9 tokens.', next: 'Resume it, or cancel it.' };
  const waiting: RunDetail = { ...run, status: 'waiting', waiting_for: [{ ...beneath, status: 'paused', reason }] };
  const text = runText(waiting, { colors: colorsFor(false), now: Date.now() }).join('\n');
  expect(text).toMatch(/waits for +run_.*\(part<U\+001B>\[2J one\) paused: max_tokens: It took 9 tokens\./);
  const steps = nextSteps(waiting).join('\n');
  expect(steps).toContain('Resume it, or cancel it.');
  expect(steps).toContain(`runs resume ${run.id}`);
  const asking = { ...waiting, waiting_for: [{ ...beneath, status: 'waiting' as const, reason: null, approvals: 2 }] };
  expect(nextSteps(asking).join('\n')).toContain('waiting: 2 approvals open');
  expect(nextSteps(asking).join('\n')).not.toContain('runs resume');
});
