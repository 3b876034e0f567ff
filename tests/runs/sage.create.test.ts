import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '@holdpoint/contract';
import type { CreateRun, StepDetail } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { placesWith, useSystem } from '../harness/index.ts';

const secret = 'sage-value-91f0c2ab77';
const system = useSystem({ env: () => ({ HOLDPOINT_SECRET_API_KEY: secret }) });
const permissions = ['fs:read', 'fs:write', 'exec:*'];
const patch = '@@ -1 +1 @@\n-a\n+b\n';

async function openSage(fields: Partial<CreateRun> = {}) {
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const { run } = await system.client.createRun({
    ...{ open: true, toolset: 'sage', workspace: { source: { type: 'directory', path } }, permissions },
    ...fields,
  } as CreateRun);
  const make = async (tool: string, args: Record<string, Json>): Promise<StepDetail> => {
    const { steps } = await system.client.sendCalls(run.id, { calls: [{ tool, args }] }, { waitS: 60 });
    if (steps[0] === undefined) throw new Error('no step');
    return steps[0];
  };
  const finish = async () => {
    await system.client.finishRun(run.id);
    await system.client.waitForRun(run.id);
  };
  return {
    id: run.id,
    path,
    make,
    finish,
    result: async (...call: Parameters<typeof make>) => (await make(...call)).result,
  };
}

// covers S4-02, S4-04, S4-62
test('a call leaves a record of its arguments, its times, its exit code and its permissions', async () => {
  const { make, id } = await openSage({ permissions: ['fs:read', 'exec:false'] });
  const ran = await make('Bash', { command: 'false', args: ['x'] });
  expect(ran).toMatchObject({
    args: { command: 'false', args: ['x'] },
    result: { ok: true, data: { exitCode: 1 }, meta: { durationMs: expect.any(Number) } },
  });
  const denied = await make('Bash', { command: 'git', args: ['status'] });
  expect(denied.result).toMatchObject({
    ok: false,
    error: {
      code: 'EPERMISSION',
      message: expect.stringMatching(/exec:git.*Submit the run with the permission exec:git/),
    },
    meta: { cause: { code: 'EPERMISSION' } },
  });
  const { data } = await system.client.listEvents(id, { limit: 500 });
  expect(data.filter(({ type }) => type === 'step.created').map((event) => JSON.stringify(event))).toEqual([
    expect.stringContaining('"allow"'),
    expect.stringContaining('exec:git'),
  ]);
});

// covers S4-50, S4-51, S4-52, S4-61
test('a secret reaches the call and nothing that is kept or shown', async () => {
  const { result, id } = await openSage({
    secrets: [{ name: 'API_KEY', as: { placeholder: true } }],
    settings: { bash_allowlist: ['echo', 'base64', 'wc'] },
  });
  expect(await result('Bash', { command: 'echo -n "$ENV.API_KEY" | wc -c' })).toMatchObject({
    data: { stdout: `${secret.length}\n` },
  });
  const printed = await result('Bash', {
    command: 'echo "$ENV.API_KEY"; echo -n "$ENV.API_KEY" | base64; echo "$ENV.API_KEY" >&2',
  });
  expect(printed).toMatchObject({ ok: true });
  expect(await result('Write', { file: 'k', content: '$ENV.API_KEY' })).toMatchObject({
    ok: false,
    meta: { cause: { code: 'ESECRETWRITTEN' } },
  });
  expect(await result('Bash', { command: 'echo', args: ['$ENV.OTHER'] })).toMatchObject({
    ok: false,
    error: { code: 'EVALIDATION' },
  });
  expect(await placesWith(system, [secret])).toEqual([]);
  const shown = JSON.stringify([printed, await system.client.listEvents(id, { limit: 500 })]);
  expect(shown).not.toContain(secret);
  expect(shown).not.toContain(Buffer.from(secret).toString('base64').slice(0, 24));
});

// covers S4-51
test('a run may say that a secret is written into files, and its publish is refused', async () => {
  const { result, id, finish } = await openSage({ secrets: [{ name: 'API_KEY', as: { placeholder: 'files' } }] });
  expect(await result('Write', { file: 'k', content: 'k=$ENV.API_KEY' })).toMatchObject({ ok: true });
  expect(readFileSync(join(system.tree(id), 'k'), 'utf8')).toBe(`k=${secret}`);
  const read = await result('Read', { file: 'k' });
  expect(read).toMatchObject({ ok: true });
  expect(JSON.stringify(read)).not.toContain(secret);
  await finish();
  await expect(system.client.publish(id)).rejects.toThrow('the value of a secret is in k');
});

// covers S4-70
test('a run is a transaction: its validators decide, and a publish is whole', async () => {
  const calls = async (validator: string) => {
    const run = await openSage({ validators: [{ command: validator }] });
    expect(await run.result('Write', { file: 'n.txt', content: '1' })).toMatchObject({ ok: true });
    expect(await run.result('Edit', { file: 'a.txt', patch })).toMatchObject({ ok: true, data: { applied: true } });
    await run.finish();
    return run;
  };
  const failed = await calls('false');
  await expect(system.client.publish(failed.id)).rejects.toMatchObject({ code: expect.any(String) });
  expect(readFileSync(join(failed.path, 'a.txt'), 'utf8')).toBe('a\n');
  const passed = await calls('grep -q b a.txt');
  expect(await system.client.publish(passed.id)).toMatchObject({ status: 'published' });
  expect(readFileSync(join(passed.path, 'a.txt'), 'utf8') + readFileSync(join(passed.path, 'n.txt'), 'utf8')).toBe(
    'b\n1',
  );
});

// covers S4-44, S4-71, S4-72
test('modes: a dry run changes nothing, a read-only run only reads, a deterministic one repeats itself', async () => {
  const dry = await openSage({ modes: { dry_run: true } });
  expect(await dry.result('Edit', { file: 'a.txt', patch })).toMatchObject({
    data: { applied: false, diff: expect.stringContaining('+b') },
    meta: { dryRun: true },
  });
  expect(await dry.result('Read', { file: 'a.txt' })).toMatchObject({
    data: { content: 'a\n' },
    meta: { dryRun: true },
  });
  const reading = await openSage({ modes: { read_only: true } });
  const denied = { ok: false, error: { code: 'EPERMISSION' } };
  expect(await reading.result('Write', { file: 'b', content: '' })).toMatchObject(denied);
  expect(await reading.result('Bash', { command: 'ls' })).toMatchObject(denied);
  expect(await reading.result('Edit', { file: 'a.txt', patch, strategy: 'check' })).toMatchObject({ ok: true });
  const fixed = await openSage({ modes: { deterministic: true }, settings: { deterministic_commands: ['cat'] } });
  const [first, second] = [
    await fixed.result('Bash', { command: 'cat a.txt' }),
    await fixed.result('Bash', { command: 'cat a.txt' }),
  ];
  expect(first).toEqual(second);
  expect(first).toMatchObject({ ok: true, data: { stdout: 'a\n' }, meta: { durationMs: 0 } });
});

// covers S4-71, S4-43
test('a run that names no permission only reads, and a command cannot write where it may not', async () => {
  const { permissions: _, ...none } = { permissions };
  const plain = await openSage({ ...none, permissions: undefined });
  expect(await plain.result('Read', { file: 'a.txt' })).toMatchObject({ ok: true });
  expect(await plain.result('Write', { file: 'b', content: '' })).toMatchObject({ error: { code: 'EPERMISSION' } });
  const some = await openSage();
  const script = "require('fs').mkdirSync('.sage'); require('fs').writeFileSync('.sage/f', 'x')";
  expect(await some.result('Bash', { command: 'node', args: ['-e', script] })).toMatchObject({
    ok: false,
    error: { code: 'EPERMISSION', message: expect.stringContaining('Taken back') },
  });
  expect(await some.result('Read', { file: '.sage/f' })).toMatchObject({ error: { code: 'ERUNTIME' } });
});
