import type { CreateRun } from '@holdpoint/contract/wire';
import { beforeAll, expect, test } from 'vitest';
import { type AppProcess, approve, bash, finished, nextApproval, until, useSystem } from '../harness/index.ts';

const system = useSystem({ workers: 0 });
const { client } = system;
let worker: AppProcess | undefined;
beforeAll(async () => {
  worker = await system.startWorker();
});

const readingOnly = {
  rules: [
    { match: { command: { class: 'safe' as const } }, action: 'allow' as const },
    { match: { tool: 'write_file' }, action: 'allow' as const },
    { match: {}, action: 'deny' as const },
  ],
};
const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });

type Steps = NonNullable<CreateRun['plan']>['groups'][number]['steps'];

async function run(policy: CreateRun['policy'], ...lines: Steps[]) {
  const groups = lines.map((steps) => ({ steps, on_error: 'continue' as const }));
  const { run: submitted } = await client.createRun({ plan: { groups }, policy });
  await finished(client, submitted.id);
  const { data } = await client.listSteps(submitted.id);
  const steps = await Promise.all(data.map(({ id }) => client.getStep(id)));
  return { steps };
}

test('a line that is allowed because it only reads is a read, without a snapshot', async () => {
  const { steps } = await run(readingOnly, [write('keep', 'kept\n')], [bash('cat keep | head -1; git status -s')]);
  const [wrote, read] = steps;
  expect([wrote?.effect, wrote?.snapshot !== null, wrote?.reads]).toEqual(['workspace', true, null]);
  expect([read?.effect, read?.snapshot, read?.reads]).toEqual(['read', null, ['cat', 'head', 'git']]);
  expect(read?.result).toMatchObject({ stdout: 'kept\n?? keep\n', exit_code: 0 });
});

test('a line declared as writing is judged as writing', async () => {
  const { steps } = await run(readingOnly, [bash('WRITES=1 ls')], [bash('ls')]);
  expect(steps.map(({ status, effect }) => [status, effect])).toEqual([
    ['rejected', 'workspace'],
    ['succeeded', 'read'],
  ]);
  expect(steps[0]?.error).toMatchObject({ code: 'EPERMISSION' });
});

test('a line that a person or a rule about its tool let through runs as before', async () => {
  const byTool = { rules: [{ match: { tool: 'bash' }, action: 'allow' as const }] };
  const { steps } = await run(byTool, [bash('cat /dev/null')]);
  expect(steps.map(({ effect, reads }) => [effect, reads])).toEqual([['workspace', null]]);
  const held = { rules: [{ match: { command: { class: 'safe' as const } }, action: 'hold' as const }] };
  const { run: submitted } = await client.createRun({
    plan: { groups: [{ steps: [bash('cat /dev/null')] }] },
    policy: held,
  });
  const approval = await nextApproval(client, submitted.id);
  await approve(client, approval);
  await finished(client, submitted.id);
  const { data } = await client.listSteps(submitted.id);
  expect(data.map(({ effect, status }) => [effect, status])).toEqual([['workspace', 'succeeded']]);
});

test('a background command is none', async () => {
  const background = { tool: 'bash', args: { command: 'sleep 0', run_in_background: true } };
  const { steps } = await run(readingOnly, [background]);
  expect(steps.map(({ effect, reads }) => [effect, reads])).toEqual([['workspace', null]]);
});

test('a reading line whose worker dies runs again on the same tree', async () => {
  const groups = [{ steps: [write('keep', 'kept\n')] }, { steps: [bash('cat keep; sleep 12')] }];
  const { run: submitted } = await client.createRun({ plan: { groups }, policy: readingOnly });
  const line = async () => (await client.listSteps(submitted.id)).data.find(({ tool }) => tool === 'bash');
  await until('the line runs', async () => (await line())?.status === 'running');
  await worker?.signal('SIGKILL');
  worker = await system.startWorker();
  await finished(client, submitted.id);
  expect(await line()).toMatchObject({ status: 'succeeded', attempts: 2, effect: 'read' });
  const events = (await client.listEvents(submitted.id)).data;
  // A call that may write would be taken over first.
  expect(events.filter(({ type }) => type === 'workspace.leased')).toEqual([]);
});
