import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '../../..');

it('has a default for everything', () => {
  expect(readConfig({}, '/somewhere')).toMatchObject({
    ...{ projectDir, cwd: '/somewhere', dataDir: join(projectDir, '.holdpoint'), url: undefined, key: undefined },
    ...{ redisUrl: undefined, color: undefined, toolchains: [], drainMs: 10_000 },
  });
});

it('takes an empty variable for one that is not set', () => {
  const env = {
    HOLDPOINT_DATA: '',
    HOLDPOINT_URL: '',
    HOLDPOINT_KEY: '',
    REDIS_URL: '',
    NO_COLOR: '',
    HOLDPOINT_DRAIN_MS: '',
  };
  expect(readConfig(env, '/x')).toMatchObject({
    dataDir: join(projectDir, '.holdpoint'),
    key: undefined,
    redisUrl: undefined,
    color: undefined,
    drainMs: 10_000,
  });
});

it('begins paths where npm was called, not where npm runs its scripts', () => {
  const env = { INIT_CWD: '/home/me/repo', HOLDPOINT_DATA: 'data' };
  expect(readConfig(env, projectDir)).toMatchObject({ cwd: '/home/me/repo', dataDir: '/home/me/repo/data' });
  expect(readConfig(env, '/elsewhere').cwd).toBe('/elsewhere');
});

it.each([
  ['HOLDPOINT_URL', 'localhost'],
  ['HOLDPOINT_URL', 'file:///etc'],
  ['HOLDPOINT_DRAIN_MS', '-1'],
  ['HOLDPOINT_DRAIN_MS', 'soon'],
  ['HOLDPOINT_FREE_BYTES', '1 GiB'],
  ['HOLDPOINT_RESERVE_BYTES', '-1'],
])('refuses %s=%s, and says which', (name, value) => {
  expect(() => readConfig({ [name]: value }, '/x')).toThrow(
    expect.objectContaining({ exitCode: 2, message: expect.stringContaining(name) }),
  );
});

it('decides on colours', () => {
  expect(readConfig({ NO_COLOR: '1', FORCE_COLOR: '1' }, '/x').color).toBe(false);
  expect(readConfig({ FORCE_COLOR: '1' }, '/x').color).toBe(true);
  expect(readConfig({ TERM: 'dumb' }, '/x').color).toBe(false);
});

it('hands on to children what they need to say that they are ready', () => {
  expect(readConfig({ HOLDPOINT_LOG: 'silent', HOLDPOINT_MODEL: 'a/b' }, '/x').childEnvironment).toEqual({
    ...{ HOLDPOINT_LOG: 'info', HOLDPOINT_MODEL: 'a/b' },
  });
  expect(readConfig({ HOLDPOINT_LOG: 'debug' }, '/x').childEnvironment.HOLDPOINT_LOG).toBe('debug');
});
