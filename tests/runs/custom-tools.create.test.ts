import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CreateRun } from '@holdpoint/contract/wire';
import { afterAll, expect, test } from 'vitest';
import { appEnv, approve, finished, nextApproval, projectDir, useSystem } from '../harness/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'hp-custom-tools-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const moduleWith = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};

const notes = join(projectDir, 'examples/tools/notes.ts');
const odd = moduleWith(
  'odd.cjs',
  `let calls = 0;
  const tool = (name, execute) => ({ name, description: name, effect: 'external', risk: 'low', input: { type: 'object' }, execute });
  module.exports = { odd: { name: 'odd', tools: [
    tool('throw_error', async () => { calls += 1; throw new TypeError('call ' + calls); }),
    tool('return_nothing', async () => {}),
    tool('leave', ({ files }) => files.read('../../etc/passwd').then(() => ({ status: 'succeeded', value: 'read' }))),
    tool('reach_out', ({ network }) => network.fetch({ url: 'http://192.0.2.1/' }, new AbortController().signal)),
  ] } };`,
);
const stamp = (version: string) =>
  `export default { name: 'stamps', tools: [{ name: 'stamp', version: '${version}', description: 'Stamps.', effect: 'workspace',
    risk: 'low', input: { type: 'object' }, execute: async () => ({ status: 'succeeded', value: '${version}' }) }] };`;
const versioned = moduleWith('versioned.mjs', stamp('1.0.0'));
const modules = [notes, odd, versioned].join(',');

const system = useSystem({ env: () => ({ HOLDPOINT_TOOLS: modules }) });

const allowAll = { rules: [{ match: {}, action: 'allow' as const }] };
type Steps = NonNullable<CreateRun['plan']>['groups'][number]['steps'];
const submit = async (toolset: string, steps: Steps, more: Partial<CreateRun> = {}) => {
  const groups = steps.map((step) => ({ steps: [step], on_error: 'continue' as const }));
  return (await system.client.createRun({ toolset, plan: { groups }, policy: allowAll, ...more })).run;
};
const stepsOf = async (runId: string) => {
  const { data } = await system.client.listSteps(runId);
  return Promise.all(data.map(({ id }) => system.client.getStep(id)));
};
const run = async (...args: Parameters<typeof submit>) => {
  const { id } = await submit(...args);
  await finished(system.client, id);
  return { id, steps: await stepsOf(id) };
};

test('a module brings a toolset, and a tool that holdpoint gets as well', async () => {
  const note = { tool: 'add_note', args: { file: 'notes.txt', note: 'two words' } };
  const { id, steps } = await run('notes', [note, note]);
  expect(steps.map(({ status, result }) => [status, result])).toEqual([
    ['succeeded', { file: 'notes.txt', bytes: 10 }],
    ['succeeded', { file: 'notes.txt', bytes: 20 }],
  ]);
  expect(readFileSync(join(system.tree(id), 'notes.txt'), 'utf8')).toBe('two words\ntwo words\n');
  const { steps: counted } = await run('holdpoint', [
    { tool: 'write_file', args: { path: 'a.txt', content: 'one two three\n' } },
    { tool: 'count_words', args: { file: 'a.txt' } },
  ]);
  expect(counted[1]?.result).toEqual({ words: 3 });
});

test('its calls meet the policy and the permissions, and wait for a person', async () => {
  const note = { tool: 'add_note', args: { file: 'notes.txt', note: 'a' } };
  const held = await submit('notes', [note], {
    policy: { rules: [{ match: { toolset: 'notes', paths: ['notes.txt'] }, action: 'hold' }] },
  });
  await approve(system.client, await nextApproval(system.client, held.id));
  await finished(system.client, held.id);
  expect((await stepsOf(held.id))[0]).toMatchObject({ status: 'succeeded' });
  const { steps } = await run('notes', [note], { permissions: ['fs:read'] });
  expect(steps[0]).toMatchObject({ status: 'rejected', error: { code: 'EPERMISSION' } });
});

test('a call with bad arguments is refused at submit', async () => {
  const bad = submit('notes', [{ tool: 'add_note', args: { fil: 'a' } }]);
  await expect(bad).rejects.toMatchObject({ code: 'invalid_plan', status: 422 });
});

test('defects of its code are results, and nothing runs twice', async () => {
  const names = ['throw_error', 'return_nothing', 'leave', 'reach_out', 'throw_error'];
  const { steps } = await run(
    'odd',
    names.map((tool) => ({ tool, args: {} })),
    { network: { allow: ['example.com'] } },
  );
  expect(steps.map(({ status, error }) => [status, error?.code, error?.message])).toEqual([
    ['failed', 'ETOOLFAILED', 'throw_error failed: call 1'],
    ['failed', 'EBADOUTPUT', expect.stringContaining('did not return an outcome')],
    ['failed', 'EOUTSIDE', expect.any(String)],
    ['failed', 'EHOSTNOTALLOWED', expect.stringContaining('192.0.2.1')],
    ['failed', 'ETOOLFAILED', 'throw_error failed: call 2'],
  ]);
});

test('API, workers and bounds name the modules and the versions of their tools', async () => {
  const { tool_modules: known } = await system.client.getBounds();
  expect(known?.map(({ module }) => module)).toEqual([notes, odd, versioned]);
  expect(Object.keys(known?.[0]?.tools ?? {})).toEqual(['notes.add_note', 'holdpoint.count_words']);
  const [worker] = await system.client.listWorkers();
  expect(worker?.bounds?.tool_modules).toEqual(known);
});

test('a worker that loaded another version does not run the calls', async () => {
  writeFileSync(versioned, stamp('2.0.0'));
  await using api = await otherApi();
  const plan = { groups: [{ steps: [{ tool: 'stamp', args: {} }] }] };
  const { run: submitted } = await api.client.createRun({ toolset: 'stamps', plan, policy: allowAll });
  const paused = await system.client.waitForRun(submitted.id, {
    until: ({ status }) => status === 'paused',
    signal: AbortSignal.timeout(60_000),
  });
  expect(paused.reason).toMatchObject({ code: 'tools_changed', message: expect.stringContaining('stamp') });
  expect((await stepsOf(submitted.id)).filter(({ status }) => status === 'succeeded')).toEqual([]);
});

const otherApi = async () => {
  const other = await system.startOtherApi();
  return {
    client: other.client,
    [Symbol.asyncDispose]: async () => {
      await other.client.close();
      await other.signal('SIGKILL');
    },
  };
};

test('a module that cannot be used starts neither API nor worker', async () => {
  const module = moduleWith('broken.mjs', 'throw new Error("no licence");');
  const env = { ...appEnv, HOLDPOINT_TOOLS: module, HOLDPOINT_DATA: join(directory, 'unused'), REDIS_URL: '/no.sock' };
  const ends = ['api', 'worker'].map((app) =>
    promisify(execFile)(process.execPath, [join(projectDir, `apps/${app}/src/main.ts`)], { env }).then(
      () => ({ code: 0, stdout: '', stderr: '' }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    ),
  );
  for (const { code, stdout, stderr } of await Promise.all(ends)) {
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(`HOLDPOINT_TOOLS: ${module} cannot be used: no licence`);
    expect(stdout + stderr).toContain('Correct the environment');
  }
});
