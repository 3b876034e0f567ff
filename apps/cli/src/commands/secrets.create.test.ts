import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { main } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const key = Buffer.alloc(32, 3).toString('base64');
const { root, env, holdpoint } = systemForTests({ HOLDPOINT_SECRETS_KEY: key });

/** Runs `secrets set` with a value on standard input. */
async function set(name: string, value: string) {
  const child = spawn(process.execPath, [main, 'secrets', 'set', name], {
    env: { ...process.env, ...env },
    stdio: 'pipe',
  });
  child.stdin.end(value);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: child.exitCode, stdout, stderr };
}

test('a secret is set from standard input, listed, used by a run and removed', async () => {
  expect(await set('TOKEN', 'value-from-stdin\n')).toMatchObject({ stdout: 'TOKEN is set (version 1)\n', stderr: '' });
  const listed = await holdpoint('secrets', 'list', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject({ data: [{ name: 'TOKEN', source: 'store', version: 1 }] });
  expect((await holdpoint('secrets', 'list')).stdout).toMatch(/^NAME +WHERE +VERSION +CHANGED\nTOKEN +store +1 /);
  const plan = join(root, 'secret.yaml');
  const secret = (name: string, env: string) => `secrets+=${JSON.stringify({ name, as: { env } })}`;
  writeFileSync(plan, 'groups:\n  - steps:\n      - { name: print, tool: bash, args: { command: echo "<$GIVEN>" } }\n');
  const run = await holdpoint('run', '--plan', plan, '--set', secret('TOKEN', 'GIVEN'), '--follow', '--json');
  expect(run.code).toBe(0);
  expect(run.stdout).toContain('<[secret TOKEN]>');
  const unknown = await holdpoint('run', '--plan', plan, '--set', secret('TOKNE', 'TOKNE'));
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('TOKEN');
  expect((await holdpoint('secrets', 'remove', 'TOKEN')).stdout).toBe('TOKEN is removed\n');
  expect((await holdpoint('secrets', 'remove', 'TOKEN')).code).toBe(7);
});

test('an empty or short value is refused', async () => {
  expect((await set('TOKEN', '\n')).stderr).toContain('Standard input is empty');
  expect((await set('TOKEN', 'short')).stderr).toContain('shorter than 8 bytes');
});
