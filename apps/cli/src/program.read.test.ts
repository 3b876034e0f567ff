import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { createProgram, openShell } from './run.ts';
import { readConfig } from './shell/index.ts';
import { call } from './testing/cli.ts';

it.each(['--version', '-V'])('%s prints the version', async (option) => {
  expect(await call([option], {})).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

/** The packages that a command loads, ours and others. */
function packagesOf(...args: string[]): Set<string | undefined> {
  const listModules = `
    import { registerHooks } from 'node:module';
    const load = (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context));
    registerHooks({ load });`;
  const preload = `data:text/javascript,${encodeURIComponent(listModules)}`;
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const { stderr, status } = spawnSync(process.execPath, ['--import', preload, main, ...args], { encoding: 'utf8' });
  expect(status).toBe(0);
  return new Set(stderr.split('\n').map((url) => /\/(?:packages|node_modules)\/(@?[^/]+)/.exec(url)?.[1]));
}

it('a short command loads neither the tools nor what speaks to Redis: they take half of its time', () => {
  const loaded = packagesOf('--help');
  expect(loaded).toContain('contract');
  for (const name of ['tools', 'runtime', 'ioredis', 'bullmq', 'execa', 'ajv']) expect(loaded).not.toContain(name);
});

it('a command loads its own modules, and no modules of other commands', () => {
  const loaded = packagesOf('tasks', 'list', '--help');
  expect(loaded).toContain('contract');
  for (const name of ['policy', 'marked', 'yaml', 'undici', '@clack']) expect(loaded).not.toContain(name);
});

it('the version loads no command', () => {
  const loaded = packagesOf('--version');
  expect(loaded).toContain('commander');
  for (const name of ['contract', 'client', 'policy', 'undici']) expect(loaded).not.toContain(name);
});

it('each command of the help is found by its name, alone', async () => {
  const { stdout } = await call(['--help'], {});
  const found = [...stdout.matchAll(/^ {2}([a-z]\S*) /gm)].map(([, name]) => name ?? '');
  const names = found.filter((name) => name !== 'help');
  expect(names.length).toBeGreaterThan(20);
  const shell = openShell(readConfig({}, '/'), process);
  for (const name of names) {
    const { commands } = await createProgram(shell, name);
    expect(commands.map((command) => command.name())).toEqual([name]);
  }
});

it('an unknown word is answered with the most similar command', async () => {
  const { code, stderr } = await call(['aprovals'], {});
  expect(code).toBe(2);
  expect(stderr).toContain('approvals');
});
