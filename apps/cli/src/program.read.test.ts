import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { call } from './testing/cli.ts';

it.each(['--version', '-V'])('%s prints the version', async (option) => {
  expect(await call([option], {})).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

it('a short command loads neither the tools nor what speaks to Redis: they take half of its time', () => {
  const listModules = `
    import { registerHooks } from 'node:module';
    const load = (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context));
    registerHooks({ load });`;
  const preload = `data:text/javascript,${encodeURIComponent(listModules)}`;
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const { stderr, status } = spawnSync(process.execPath, ['--import', preload, main, '--help'], { encoding: 'utf8' });
  expect(status).toBe(0);
  const loaded = stderr.split('\n').map((url) => /\/(?:packages|node_modules)\/(@?[^/]+)/.exec(url)?.[1]);
  expect(loaded).toContain('contract');
  for (const name of ['tools', 'runtime', 'ioredis', 'bullmq', 'execa', 'ajv']) expect(loaded).not.toContain(name);
});
