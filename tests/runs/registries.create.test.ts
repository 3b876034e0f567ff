import { openRunBackend } from '@holdpoint/client';
import type { StepDetail } from '@holdpoint/contract/wire';
import { createCliAgentTools, createRyanRegistry, createWorkbenchRegistry } from '@holdpoint/tools/registries';
import { expect, test } from 'vitest';
import { approve, finished, nextApproval, until, useSystem } from '../harness/index.ts';

// covers S2-99
const system = useSystem({ env: () => ({ HOLDPOINT_TOOLS: '@holdpoint/tools/workbench-extra' }) });

async function openToolset(toolset: string) {
  const path = await system.directoryWith({ 'a.txt': 'a\n', 'package.json': '{"scripts":{"test":"exit 3"}}' });
  const source = { type: 'directory', path } as const;
  return system.client.createRun({ open: true, toolset, workspace: { source } });
}

/** A step canceled before its worker begins is `canceled`, not `killed`. */
const untilCommandRuns = (run: string) =>
  until('the command runs', async () => (await system.client.listSteps(run)).data.at(-1)?.status === 'running');

async function openWorkbench() {
  const { run } = await openToolset('workbench');
  const make = async (tool: string, args: StepDetail['args'] = {}) => {
    const { steps, number } = await system.client.sendCalls(run.id, { calls: [{ tool, args }] }, { waitS: 60 });
    return { step: steps[0], number };
  };
  return { run, make };
}

test('the calls of a registry run in an open run, in order', async () => {
  const { run } = await openWorkbench();
  const tools = createWorkbenchRegistry(openRunBackend(system.client, run));
  const [written, read, bad] = await Promise.all([
    tools.get('write_file')?.execute({ path: 'b.txt', content: 'b\n' }),
    tools.get('read_file')?.execute({ path: 'b.txt' }),
    tools.get('read_file')?.execute({ file: 'b.txt' }),
  ]);
  expect(written).toMatchObject({ ok: true });
  expect(read).toMatchObject({ ok: true, value: { content: 'b\n' } });
  expect(bad).toMatchObject({ ok: false, error: { code: 'INVALID_ARGS' } });
  await system.client.finishRun(run.id);
  expect((await finished(system.client, run.id)).status).toBe('succeeded');
});

// covers S1-02, S1-03, S1-05, S1-40
test('the registry of ryan executes in an open run, failures with metadata', async () => {
  const { run } = await openToolset('ryan');
  const registry = createRyanRegistry(openRunBackend(system.client, run));
  registry.registerBuiltinTools();
  const execute = (command: string) => registry.execute({ name: 'execute_bash', parameters: { command } });
  expect(await execute('echo out; exit 3')).toMatchObject({
    ...{ success: false, content: 'out\n', error: expect.stringContaining('exit code 3') },
    metadata: { tool_name: 'execute_bash', parameters: { command: 'echo out; exit 3' } },
  });
  const failures = [
    [{ name: 'execute_bash', parameters: { command: 'sudo id' } }, /security/],
    [{ name: 'execute_bash', parameters: { line: 'id' } }, /line/],
    [{ name: 'read_file', parameters: { path: '../a.txt' } }, /./],
    [{ name: 'write_file', parameters: {} }, /^tool not found: write_file$/],
  ] as const;
  for (const [request, error] of failures) {
    expect(await registry.execute(request)).toMatchObject({
      ...{ success: false, error: expect.stringMatching(error) },
      metadata: {
        ...{ tool_name: request.name, parameters: request.parameters, execution_time: expect.any(Number) },
        ...{ start_time: expect.stringMatching(/Z$/), end_time: expect.stringMatching(/Z$/) },
      },
    });
  }
  const { tool } = registry.get('read_file');
  expect(tool && registry.convertToProvider(tool, 'anthropic')).toMatchObject({ input_schema: { required: ['path'] } });
  expect(tool && registry.batchConvert([tool, tool], 'mcp')).toHaveLength(2);
  expect(() => registry.getDefinitions('openai-functions')).toThrow(/no form for a provider/);
  await system.client.finishRun(run.id);
  expect((await finished(system.client, run.id)).status).toBe('succeeded');
});

// covers S1-05
test('asynchronous calls of ryan run at the same time, and canceling ends one of them', async () => {
  const { run } = await openToolset('ryan');
  const registry = createRyanRegistry(openRunBackend(system.client, run));
  registry.registerBuiltinTools();
  const executeAsync = (command: string, signal?: AbortSignal) =>
    registry.executeAsync({ name: 'execute_bash', parameters: { command } }, { ...(signal && { signal }) });
  // Each waits for the files of the others: one after the other they would never end.
  const meet = (own: string) => `touch ${own}; until [ -e a ] && [ -e b ] && [ -e c ]; do sleep 0.1; done; echo ${own}`;
  const results = await Promise.all(['a', 'b', 'c'].map((own) => executeAsync(meet(own))));
  expect(results.map(({ content }) => content)).toEqual(['a\n', 'b\n', 'c\n']);
  const ending = new AbortController();
  const call = executeAsync('sleep 600', ending.signal);
  await untilCommandRuns(run.id);
  ending.abort();
  expect(await call).toMatchObject({ success: false, error: 'canceled', metadata: { tool_name: 'execute_bash' } });
  expect(await executeAsync('echo after')).toMatchObject({ success: true, content: 'after\n' });
  const { data } = await system.client.listSteps(run.id);
  expect(data.slice(-2)).toMatchObject([{ status: 'killed', error: { code: 'ECANCELED' } }, { status: 'succeeded' }]);
  await system.client.finishRun(run.id);
  expect((await finished(system.client, run.id)).status).toBe('succeeded');
});

// covers S0-01
test('the tools of cli-agent run in an open run', async () => {
  const { run } = await openToolset('cli-agent');
  const tools = createCliAgentTools(openRunBackend(system.client, run));
  const read = tools.find(({ name }) => name === 'read_file');
  expect(await read?.execute({ path: 'a.txt' })).toMatchObject({
    success: true,
    output: 'Contents of a.txt (lines 1-1):\na\n',
  });
  expect(read?.validate({ path: '../x' }, '/workspace')).toMatchObject({ code: 'path_outside_working_dir' });
  await system.client.finishRun(run.id);
});

test('a call that is aborted while it runs ends alone', async () => {
  const { run } = await openWorkbench();
  const tools = createWorkbenchRegistry(openRunBackend(system.client, run));
  const ending = new AbortController();
  const call = tools.get('run_code')?.execute({ language: 'bash', code: 'sleep 600' }, { signal: ending.signal });
  await untilCommandRuns(run.id);
  ending.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  expect(await tools.get('read_file')?.execute({ path: 'a.txt' })).toMatchObject({ ok: true });
  await system.client.finishRun(run.id);
  expect((await finished(system.client, run.id)).status).toBe('succeeded');
});

test('git, tests and search are tools of the workbench by registration alone', async () => {
  const { make } = await openWorkbench();
  const value = async (tool: string, args: StepDetail['args'] = {}) => (await make(tool, args)).step?.result;
  expect(await value('git_status')).toMatchObject({ ok: true, value: { clean: true, files: [] } });
  await value('write_file', { path: 'new file.txt', content: 'needle\n' });
  expect(await value('git_status')).toMatchObject({
    value: { clean: false, files: [{ path: 'new file.txt', index: '?', worktree: '?' }] },
  });
  expect(await value('git_commit', { message: '$(touch x); --amend' })).toMatchObject({
    ...{ ok: true, value: { commit: expect.stringMatching(/^[0-9a-f]{40}$/) } },
  });
  expect(await value('git_status')).toMatchObject({ value: { clean: true } });
  expect(await value('git_commit', { message: 'nothing' })).toMatchObject({ ok: false });
  expect(await value('search_code', { query: 'needle' })).toMatchObject({
    value: { matches: [{ path: 'new file.txt' }] },
  });
  expect(await value('run_tests')).toMatchObject({ ok: true, value: { command: 'npm test --silent', passed: false } });
  expect(await value('format_code', { paths: ['a.txt'] })).toMatchObject({ ok: false });
  expect(await value('git_push', { remote: 'ext::sh -c id', branch: 'a' })).toMatchObject({
    error: { code: 'INVALID_ARGS' },
  });
  expect(await value('git_push', { remote: '--exec=id', branch: 'a' })).toMatchObject({
    error: { code: 'INVALID_ARGS' },
  });
});

test('git_push asks a person each time, whatever was approved before', async () => {
  const { run, make } = await openWorkbench();
  await make('git_status');
  await make('run_code', { language: 'bash', code: 'git init -q --bare /workspace/remote.git' });
  const push = (branch: string) =>
    system.client.sendCalls(run.id, { calls: [{ tool: 'git_push', args: { remote: 'remote.git', branch } }] });
  for (const branch of ['one', 'two']) {
    const { number } = await push(branch);
    await approve(system.client, await nextApproval(system.client, run.id));
    const { steps } = await system.client.getCalls(run.id, number, { waitS: 60 });
    expect(steps[0]?.result).toMatchObject({ ok: true, value: { branch } });
  }
});
