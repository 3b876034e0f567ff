import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { start } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const { root, env, holdpoint } = systemForTests();

const directory = (): string => {
  const path = mkdtempSync(join(root, 'workspace-'));
  writeFileSync(join(path, 'a.txt'), 'one\n');
  return path;
};
const openRun = async (): Promise<string> => (await holdpoint('run', '--open')).stdout.trim();
const call = (tool: string, args: unknown) => JSON.stringify({ tool, args });

it('an open run takes calls until it is finished, and is published like any other', async () => {
  const source = directory();
  const opened = await holdpoint('run', '--open', '--source', source, '--set', 'limits.idle_s=600');
  expect(opened.code).toBe(0);
  const run = opened.stdout.trim();
  expect(opened.stderr).toContain(`holdpoint calls ${run}`);
  const wrote = await holdpoint('calls', run, call('write_file', { path: 'b.txt', content: 'two\n' }));
  expect([wrote.code, wrote.stdout]).toEqual([0, expect.stringMatching(/write_file +succeeded/)]);
  const two = `[${call('read_file', { path: 'b.txt' })}, ${call('raed_file', {})}]`;
  const read = await holdpoint('calls', run, two, '--json', '--idempotency-key', 'k');
  expect([read.code, JSON.parse(read.stdout)]).toMatchObject([
    1,
    { number: 2, turn: 2, settled: true, steps: [{ status: 'succeeded' }, { error: { code: 'EUNKNOWNTOOL' } }] },
  ]);
  const again = await holdpoint('calls', run, two, '--json', '--idempotency-key', 'k');
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(read.stdout));
  expect((await holdpoint('calls', run, '{')).code).toBe(2);
  expect((await holdpoint('logs', run)).stdout).toContain('for calls from outside');
  const finished = await holdpoint('finish', run, '--message', 'written');
  expect([finished.code, finished.stdout]).toEqual([0, `${run} is succeeded\n`]);
  expect((await holdpoint('calls', run, two)).code).toBe(8);
  expect((await holdpoint('runs', 'publish', run)).code).toBe(0);
  expect(readFileSync(join(source, 'b.txt'), 'utf8')).toBe('two\n');
  expect((await holdpoint('run', '--open', 'and a prompt')).code).toBe(2);
});

it('a call that waits behind another turn is shown and canceled by its whole id, with or without its run', async () => {
  const [run, other] = await Promise.all([openRun(), openRun()]);
  const wait = call('bash', { command: 'until [ -e go ]; do sleep 0.1; done' });
  const begun = await holdpoint('calls', run, wait, '--detach', '--json');
  const [first] = JSON.parse(begun.stdout).steps.map(({ id }: { id: string }) => id);
  // A busy worker takes the command later than the program below takes its calls.
  await expect
    .poll(async () => (await holdpoint('steps', 'show', run, first)).stdout, { timeout: 20_000 })
    .toContain('running');
  const writes = ['b', 'c', 'd'].map((path) => call('write_file', { path, content: path }));
  const sent = await holdpoint('calls', run, `[${writes.join(',')}]`, '--detach', '--json');
  const [b, c, d] = JSON.parse(sent.stdout).steps.map(({ id }: { id: string }) => id);
  expect((await holdpoint('steps', 'show', run, b)).stdout).toContain('pending');
  const foreign = await holdpoint('steps', 'cancel', other, b);
  expect([foreign.code, foreign.stderr]).toEqual([7, expect.stringContaining(`The run has no step ${b}`)]);
  expect((await holdpoint('steps', 'cancel', b)).stdout).toBe(`${b} is canceled\n`);
  expect((await holdpoint('steps', 'cancel', run, c, '--message', 'not c')).stdout).toBe(`${c} is canceled\n`);
  expect((await holdpoint('steps', 'cancel', first)).stdout).toMatch(`${first} is`);
  await holdpoint('calls', run, call('read_file', { path: 'd' }));
  const steps = JSON.parse((await holdpoint('runs', 'steps', run, '--json')).stdout).data;
  const ends = Object.fromEntries(steps.map(({ id, status }: { id: string; status: string }) => [id, status]));
  expect(ends).toMatchObject({ [first]: 'killed', [b]: 'canceled', [c]: 'canceled', [d]: 'succeeded' });
});

it('a tool is called on a copy, and its changes are brought back only when asked for', async () => {
  const workspace = directory();
  const read = await holdpoint(
    'tools',
    'call',
    'read_file',
    '--workspace',
    workspace,
    '--args',
    '{"path":"a.txt"}',
    '--json',
  );
  expect(read.code).toBe(0);
  expect(JSON.stringify(JSON.parse(read.stdout))).toContain('one');
  const args = ['--workspace', workspace, '--args', '{"path":"b.txt","content":"two\\n"}'];
  expect((await holdpoint('tools', 'call', 'write_file', ...args)).code).toBe(0);
  expect(readdirSync(workspace)).toEqual(['a.txt']);
  expect((await holdpoint('tools', 'call', 'write_file', ...args, '--publish')).code).toBe(0);
  expect(readFileSync(join(workspace, 'b.txt'), 'utf8')).toBe('two\n');
  const runs = JSON.parse((await holdpoint('runs', 'list', '--json')).stdout).data;
  const called = runs.filter(({ title }: { title: string }) => title.endsWith('called by hand'));
  expect(new Set(called.map(({ status }: { status: string }) => status))).toEqual(new Set(['succeeded']));
});

it('a failed call exits 1 with its result, and bad input exits 2', async () => {
  const failed = await holdpoint('tools', 'call', 'read_file', '--args', '{"path":"gone.txt"}');
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('ENOENT')]);
  const unknown = await holdpoint('tools', 'call', 'raed_file', '--json');
  expect([unknown.code, unknown.stdout]).toEqual([1, expect.stringContaining('EUNKNOWNTOOL')]);
  expect((await holdpoint('tools', 'call', 'read_file', '--args', '{')).code).toBe(2);
  expect((await holdpoint('tools', 'call', 'read_file', '--publish')).code).toBe(2);
  expect((await holdpoint('tools', 'call', 'read_file', '--workspace', join(root, 'none'))).code).toBe(2);
});

it('a call that waits for a person says how to decide; with --no-wait it exits 5 and stays open', async () => {
  const workspace = directory();
  const args = ['tools', 'call', 'bash', '--workspace', workspace, '--args', '{"command":"rm -rf a.txt"}'];
  const held = await holdpoint(...args, '--no-wait');
  expect([held.code, held.stderr]).toEqual([5, expect.stringContaining('holdpoint approvals approve apr_')]);
  const waiting = start(args, env);
  const id = await approvalOf(waiting);
  expect((await holdpoint('approvals', 'reject', id)).code).toBe(0);
  expect(await waiting.ended).toMatchObject({ code: 1, stdout: expect.stringContaining('EREJECTED') });
});

/** The approval that a waiting command names. */
async function approvalOf({ child }: ReturnType<typeof start>): Promise<string> {
  let said = '';
  // The command still writes later: it would end if its stream were destroyed here.
  for await (const chunk of child.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    said += String(chunk);
    const [id] = /apr_[0-9a-f-]{36}/.exec(said) ?? [];
    if (id === undefined) continue;
    child.stderr?.resume();
    return id;
  }
  throw new Error(`no approval was named: ${said}`);
}
