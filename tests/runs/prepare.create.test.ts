import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEvent } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AppProcess,
  allowBash,
  bash,
  finished,
  git,
  type PackageRegistry,
  plan,
  startRegistry,
  succeed,
  until,
  useSystem,
} from '../harness/index.ts';

const system = useSystem({ env: () => ({ HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32' }), workers: 0 });
const { client } = system;
let registry: PackageRegistry;
let worker: AppProcess;
beforeAll(async () => {
  registry = await startRegistry();
  worker = await system.startWorker();
});
afterAll(() => registry[Symbol.asyncDispose]());

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
async function eventsOf<Type extends RunEvent['type']>(runId: string, type: Type): Promise<Of<Type>['data'][]> {
  const { data } = await client.listEvents(runId, { limit: 500 });
  return data.flatMap((event) => (event.type === type ? [event.data as Of<Type>['data']] : []));
}

/** A project with one dependency, whose test needs it. */
async function project(name: string): Promise<Record<string, string>> {
  const { version, resolved, integrity } = registry.npm(name, {
    'index.js': '#!/usr/bin/env node\nmodule.exports = (a, b) => a + b;\n',
  });
  const manifest = { name: 'app', version: '1.0.0', dependencies: { [name]: version } };
  const lock = {
    ...{ name: 'app', version: '1.0.0', lockfileVersion: 3, requires: true },
    packages: { '': manifest, [`node_modules/${name}`]: { version, resolved, integrity, bin: { [name]: 'index.js' } } },
  };
  return {
    '.gitignore': 'node_modules/\n',
    'package.json': JSON.stringify(manifest),
    'package-lock.json': JSON.stringify(lock),
    'src/sum.js': `module.exports = require('${name}');\n`,
  };
}

const npmCi = () => ({
  commands: [{ command: `npm ci --no-audit --no-fund --fetch-retries 0 --registry http://${registry.host}/` }],
  network: { allow: [registry.host] },
});
const repair = bash(
  `node -e 'process.exit(require("./src/sum.js")(2, 3) === 5 ? 0 : 1)' && node_modules/.bin/adder && echo '// repaired' >> src/sum.js`,
);

test('npm ci is done when the first step begins, once for all runs of the same files', async () => {
  const path = await system.repositoryWith(await project('adder'));
  const source = { type: 'git' as const, path };
  const request = {
    ...{ plan: plan([repair], [bash(`curl -s -m 2 http://${registry.host}/adder || echo shut`)]), prepare: npmCi() },
    ...{ workspace: { source }, policy: { rules: [allowBash] } },
    validators: [{ command: 'test -L node_modules/.bin/adder' }],
  };
  const first = await succeed(client, request);
  expect(await eventsOf(first.id, 'workspace.prepared')).toMatchObject([
    { number: 1, of: 1, exit_code: 0, kept: true, reached: [{ verdict: 'allowed' }] },
  ]);
  const [, shut] = (await client.listSteps(first.id)).data;
  expect((await client.getStep(shut?.id ?? '')).result).toMatchObject({ stdout: 'shut\n' });
  expect((await client.diff(first.id)).files.map((file) => file.path)).toEqual(['src/sum.js']);
  expect(await client.publish(first.id)).toMatchObject({ status: 'published' });
  expect(await git(path, 'diff', '--name-only', 'main', `holdpoint/${first.id}`)).toBe('src/sum.js');

  const visits = registry.visits.length;
  const second = await succeed(client, request);
  const [prepared] = await eventsOf(second.id, 'workspace.prepared');
  expect(prepared).toMatchObject({ cached: true, number: 1, of: 1 });
  const commit = await git(path, 'rev-parse', 'main');
  const from = { run_id: first.id, source: path, ref: 'HEAD', commit, bound_to: 'tree' };
  expect(prepared?.made_from).toMatchObject(from);
  expect(prepared?.files_changed).toBeGreaterThanOrEqual(4);
  // Only the step itself asked: nothing was installed.
  expect(registry.visits.slice(visits).filter((url) => url !== '/adder')).toEqual([]);
  expect(await client.publish(second.id)).toMatchObject({ status: 'published' });

  // A fork has the files and runs nothing; another lock file is another key.
  const { run: fork } = await client.forkRun(second.id, { from_step: 0 });
  expect(await finished(client, fork.id)).toMatchObject({ status: 'succeeded' });
  expect(await eventsOf(fork.id, 'workspace.preparing')).toEqual([]);
  const other = await system.repositoryWith({ ...(await project('adder')), '.npmrc': 'audit=false\n' });
  const third = await succeed(client, { ...request, workspace: { source: { type: 'git', path: other } } });
  expect(await eventsOf(third.id, 'workspace.prepared')).toMatchObject([{ exit_code: 0 }]);
});

test('a branch with another script of its own leaves nothing for runs of other branches', async () => {
  const files = await project('guarded');
  const manifest = JSON.parse(files['package.json'] ?? '');
  const own = { ...manifest, scripts: { postinstall: 'node scripts/post.js' } };
  const post = (text: string) => `require('fs').writeFileSync('node_modules/guarded/post.txt', '${text}');\n`;
  const path = await system.repositoryWith({
    ...{ ...files, 'package.json': JSON.stringify(own), 'scripts/post.js': post('clean') },
  });
  await git(path, 'checkout', '-q', '-b', 'branch');
  await writeFile(join(path, 'scripts/post.js'), post('poison'));
  await git(path, 'commit', '-qam', 'another script');
  await git(path, 'checkout', '-q', 'main');
  const run = (ref?: string) =>
    succeed(client, {
      ...{ plan: plan([bash('cat node_modules/guarded/post.txt')]), prepare: npmCi() },
      ...{ workspace: { source: { type: 'git' as const, path, ref } }, policy: { rules: [allowBash] } },
    });
  const seen = async (id: string) => {
    const [step] = (await client.listSteps(id)).data;
    return (await client.getStep(step?.id ?? '')).result;
  };
  const poisoned = await run('branch');
  expect(await seen(poisoned.id)).toMatchObject({ stdout: 'poison' });
  expect(await eventsOf(poisoned.id, 'workspace.prepared')).toMatchObject([{ kept: true }]);
  const clean = await run();
  expect(await seen(clean.id)).toMatchObject({ stdout: 'clean' });
  const again = await run();
  expect(await eventsOf(again.id, 'workspace.prepared')).toMatchObject([{ cached: true }]);
  expect(await seen(again.id)).toMatchObject({ stdout: 'clean' });
});

test('pip install into a virtual environment works in the next run, too', async () => {
  registry.wheel('adderpy', { 'adderpy.py': 'def add(a, b):\n    return a + b\n' });
  const path = await system.directoryWith({ 'requirements.txt': 'adderpy==1.0.0\n', 'app.py': 'import adderpy\n' });
  const index = `--index-url http://${registry.host}/simple/ --trusted-host 127.0.0.1`;
  const request = {
    plan: plan([bash('.venv/bin/python app.py && echo "# repaired" >> app.py')]),
    prepare: {
      commands: [
        { command: 'python3 -m venv --without-pip .venv' },
        { command: `pip3 --python .venv/bin/python install --disable-pip-version-check ${index} -r requirements.txt` },
      ],
      network: { allow: [registry.host] },
    },
    ...{ workspace: { source: { type: 'directory' as const, path } }, policy: { rules: [allowBash] } },
  };
  const first = await succeed(client, request);
  expect(await eventsOf(first.id, 'workspace.prepared')).toMatchObject([{ number: 1 }, { number: 2, kept: true }]);
  const second = await succeed(client, request);
  expect(await eventsOf(second.id, 'workspace.prepared')).toMatchObject([{ cached: true, number: 2 }]);
  // A directory has no ignore rules: what prepare made is left out all the same.
  expect(await client.publish(second.id)).toMatchObject({ status: 'published', published: { files_written: 1 } });
  expect(await readFile(join(path, 'app.py'), 'utf8')).toBe('import adderpy\n# repaired\n');
});

test('a failing command pauses the run with its output, and a resume runs the command again', async () => {
  const path = await system.repositoryWith(await project('absent'));
  registry.away = true;
  const { run } = await client.createRun({
    open: true,
    prepare: { ...npmCi(), commands: [{ command: 'date +%N > stamp' }, ...npmCi().commands] },
    workspace: { source: { type: 'git', path } },
  });
  const paused = await client.waitForRun(run.id, { until: ({ status }) => status === 'paused' });
  expect(paused.reason).toMatchObject({ code: 'prepare_failed', message: expect.stringContaining('503') });
  registry.away = false;
  await client.resumeRun(run.id);
  const signal = AbortSignal.timeout(60_000);
  await client.waitForRun(run.id, { until: ({ status }) => status === 'waiting', signal });
  expect(await eventsOf(run.id, 'workspace.prepared')).toHaveLength(2);
  // The first command was recorded, so it ran once.
  expect((await eventsOf(run.id, 'workspace.preparing')).map(({ number }) => number)).toEqual([1, 2, 2]);
  expect((await client.listSnapshots(run.id)).data.map(({ step }) => step)).toEqual([null, null, null]);
  await client.cancelRun(run.id);
});

test('the pause of a run names a refused host, with the setting to open the host', async () => {
  const path = await system.repositoryWith({ 'a.txt': 'a\n' });
  const commands = [{ command: 'curl -sf http://elsewhere.invalid/x || { echo "npm error network"; exit 1; }' }];
  const prepare = { commands, network: { allow: [registry.host] } };
  const request = { plan: plan([bash('true')]), prepare, workspace: { source: { type: 'git' as const, path } } };
  const { id } = (await client.createRun(request)).run;
  const paused = await client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  expect(paused.reason).toMatchObject({
    code: 'prepare_failed',
    message: expect.stringContaining('npm error network\n[holdpoint] refused elsewhere.invalid:80: '),
    next: expect.stringMatching(/refused .*prepare\.network\.allow.*doctor --reach elsewhere\.invalid:80/),
  });
  const [failed] = await eventsOf(id, 'workspace.prepare_failed');
  expect(failed?.reached).toMatchObject([
    {
      host: 'elsewhere.invalid',
      verdict: 'refused',
      reason: 'EHOSTNOTALLOWED',
      detail: expect.stringContaining('elsewhere'),
    },
  ]);
});

test('a command whose worker was killed runs again on a new tree', async () => {
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const once = `curl -s http://${registry.host}/once`;
  const hang = `echo half > half.txt; test -e /tmp/none; curl -s http://${registry.host}/hang/$(cat half.txt)`;
  const { run } = await client.createRun({
    plan: plan([bash('cat done.txt; test ! -e half.txt')]),
    prepare: {
      commands: [{ command: `${once}; echo 1 > done.txt` }, { command: hang, timeout_s: 600 }],
      network: { allow: [registry.host] },
    },
    workspace: { source: { type: 'directory', path } },
    policy: { rules: [allowBash] },
  });
  const hangs = () => registry.visits.filter((url) => url === '/hang/half').length;
  await until('the second command hangs', () => hangs() === 1, { withinMs: 60_000 });
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  await until('it hangs again', () => hangs() === 2, { withinMs: 60_000 });
  expect(registry.visits.filter((url) => url === '/once')).toHaveLength(1);
  expect((await client.listEvents(run.id)).data.filter(({ type }) => type === 'workspace.leased')).toHaveLength(1);
  await client.cancelRun(run.id);
  expect(await finished(client, run.id)).toMatchObject({ status: 'canceled' });
});

test('the operator’s rules and a wrong request refuse a run before it is accepted', async () => {
  const refused = (prepare: object, more: object = {}) =>
    client.createRun({ plan: plan([repair]), prepare: { commands: [{ command: 'npm ci' }], ...prepare }, ...more });
  await expect(
    refused({}, { policy: { rules: [{ match: { command: { program: 'npm' } }, action: 'deny' }] } }),
  ).rejects.toMatchObject({
    code: 'prepare_refused',
    errors: [{ pointer: '/prepare/commands' }],
  });
  await expect(refused({}, { modes: { read_only: true } })).rejects.toMatchObject({ code: 'prepare_refused' });
  await expect(refused({ network: { allow: ['http://x'] } })).rejects.toMatchObject({
    code: 'invalid_network',
    errors: [{ pointer: '/prepare/network/allow/0' }],
  });
  await expect(refused({ inputs: ['../x'] })).rejects.toMatchObject({
    code: 'glob_invalid',
    errors: [{ pointer: '/prepare/inputs/0' }],
  });
  await expect(refused({ commands: [{ command: 'rm -rf /' }] })).rejects.toMatchObject({ code: 'prepare_refused' });
});
