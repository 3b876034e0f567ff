import { expect, test } from 'vitest';
import { call } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const { env, holdpoint } = systemForTests();

test('a key is created, used, rotated and revoked', async () => {
  expect((await holdpoint('keys', 'whoami')).stdout).toMatch(/^caller +admin\nkind +person\ntenant +default\n/);
  const made = await holdpoint(
    'keys',
    'create',
    'ci',
    '--kind',
    'service',
    '--scope',
    'runs:read',
    '--scope',
    'tools:read',
  );
  // The text alone: a script takes it from stdout.
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^hp_[\w-]{49}\n$/) });
  const id = /key_[0-9a-f-]{36}/.exec(made.stderr)?.[0] ?? '';
  const as = (key: string, ...args: string[]) => call(args, { ...env, HOLDPOINT_KEY: key.trim() });
  expect(JSON.parse((await as(made.stdout, 'keys', 'whoami', '--json')).stdout)).toMatchObject({
    ...{ name: 'ci', kind: 'service', key_id: id },
    scopes: ['runs:read', 'tools:read'],
  });
  const refused = await as(made.stdout, 'keys', 'list');
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('--scope keys:admin') });

  const rotated = await holdpoint('keys', 'rotate', id, '--grace', '60', '--json');
  const { key, previous_until } = JSON.parse(rotated.stdout);
  expect(Date.parse(previous_until)).toBeGreaterThan(Date.now());
  for (const text of [made.stdout, key]) expect((await as(text, 'keys', 'whoami')).code).toBe(0);
  expect((await holdpoint('keys', 'list')).stdout).toMatch(new RegExp(`^${id} +ci +ci +service +rotating`, 'm'));
  expect((await holdpoint('keys', 'revoke', id)).stdout).toBe(`${id} (ci) is revoked\n`);
  for (const text of [made.stdout, key]) expect((await as(text, 'keys', 'whoami')).code).toBe(4);
  expect((await holdpoint('keys', 'list')).stdout).toMatch(new RegExp(`^${id} +ci +ci +service +revoked`, 'm'));
});

test('what no key can be is refused with what to do', async () => {
  const agent = await holdpoint('keys', 'create', 'bot', '--kind', 'agent', '--scope', 'approvals:decide');
  expect(agent).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('can never hold approvals:decide'),
  });
  const unknown = await holdpoint('keys', 'create', 'bot', '--kind', 'agent', '--scope', 'run:read', '--json');
  expect(JSON.parse(unknown.stdout).error).toMatchObject({
    code: 'unknown_scope',
    details: [expect.stringContaining('runs:read')],
  });
  expect((await holdpoint('keys', 'create', 'bot', '--kind', 'robot', '--scope', 'runs:read')).code).toBe(2);
  expect((await holdpoint('keys', 'revoke', 'key_nothing')).code).toBe(7);
});
