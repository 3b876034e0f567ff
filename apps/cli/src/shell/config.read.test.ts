import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '../../../..');

it('has a default for everything', () => {
  expect(readConfig({}, '/somewhere')).toMatchObject({
    ...{ projectDir, cwd: '/somewhere', dataDir: join(projectDir, '.holdpoint'), url: undefined, key: undefined },
    ...{ redisUrl: undefined, color: undefined, toolchains: [], drainMs: 10_000 },
  });
});

it('treats an empty variable as not set', () => {
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

it('resolves paths from the directory where npm was called', () => {
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
])('refuses %s=%s and names the variable', (name, value) => {
  expect(() => readConfig({ [name]: value }, '/x')).toThrow(
    expect.objectContaining({ exitCode: 2, message: expect.stringContaining(name) }),
  );
});

it('reads whether to use colours', () => {
  expect(readConfig({ NO_COLOR: '1', FORCE_COLOR: '1' }, '/x').color).toBe(false);
  expect(readConfig({ FORCE_COLOR: '1' }, '/x').color).toBe(true);
  expect(readConfig({ TERM: 'dumb' }, '/x').color).toBe(false);
});

it('passes a log level to children that shows when they are ready', () => {
  expect(readConfig({ HOLDPOINT_LOG: 'silent', HOLDPOINT_MODEL: 'a/b' }, '/x').childEnvironment).toEqual({
    ...{ HOLDPOINT_LOG: 'info', HOLDPOINT_MODEL: 'a/b' },
  });
  expect(readConfig({ HOLDPOINT_LOG: 'debug' }, '/x').childEnvironment.HOLDPOINT_LOG).toBe('debug');
});
