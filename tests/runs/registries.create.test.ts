import { openRunBackend } from '@holdpoint/client';
import type { StepDetail } from '@holdpoint/contract/wire';
import { createWorkbenchRegistry } from '@holdpoint/tools/registries';
import { expect, test } from 'vitest';
import { approve, finished, nextApproval, useSystem } from '../harness/index.ts';

// covers S2-99
const system = useSystem({ env: () => ({ HOLDPOINT_TOOLS: '@holdpoint/tools/workbench-extra' }) });

async function openWorkbench() {
  const path = await system.directoryWith({ 'a.txt': 'a\n', 'package.json': '{"scripts":{"test":"exit 3"}}' });
  const { run } = await system.client.createRun({
    ...{ open: true, toolset: 'workbench', workspace: { source: { type: 'directory', path } } },
  });
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

test('a call that is aborted while it runs ends with its run', async () => {
  const { run } = await openWorkbench();
  const tools = createWorkbenchRegistry(openRunBackend(system.client, run));
  const ending = new AbortController();
  const call = tools.get('run_code')?.execute({ language: 'bash', code: 'sleep 600' }, { signal: ending.signal });
  await system.client.waitForRun(run.id, { until: ({ open_steps }) => open_steps > 0 });
  ending.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  expect((await finished(system.client, run.id)).status).toBe('canceled');
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
